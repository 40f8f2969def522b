//! `fss_v1`: MinHash by Fast Similarity Sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).

use crate::grams::{GAMMA, mix64};

/// A slot keeps the least of (round << 32 | low half of the hash): the first round that reaches it, then the least value.
const EMPTY: u64 = u64::MAX;

/// Sketch a set of hashes that is not empty; repeats change nothing.
pub fn sketch(hashes: &[u64], slots: usize) -> Vec<u32> {
    let mut taken = vec![EMPTY; slots];
    for turn in 0..2 * slots {
        if turn < slots {
            play_round(&mut taken, hashes, turn as u64);
        } else if taken[turn - slots] == EMPTY {
            fill_slot(&mut taken[turn - slots], hashes, turn as u64);
        }
        if !taken.contains(&EMPTY) {
            break;
        }
    }
    taken.iter().map(|&slot| slot as u32).collect()
}

/// The hash of a feature in a round.
fn hash_in(turn: u64, hash: u64) -> u64 {
    if turn == 0 {
        hash
    } else {
        mix64(hash.wrapping_add(GAMMA.wrapping_mul(turn)))
    }
}

/// Every feature tries for the slot that its hash chooses.
fn play_round(taken: &mut [u64], hashes: &[u64], turn: u64) {
    let slots = taken.len() as u64;
    for &hash in hashes {
        let value = hash_in(turn, hash);
        let slot = (((value >> 32) * slots) >> 32) as usize;
        taken[slot] = taken[slot].min(turn << 32 | value & 0xFFFF_FFFF);
    }
}

/// Every feature tries for one slot.
fn fill_slot(slot: &mut u64, hashes: &[u64], turn: u64) {
    let least = hashes.iter().map(|&hash| hash_in(turn, hash) as u32).min();
    *slot = least.map_or(EMPTY, |low| turn << 32 | low as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_feature_fills_every_slot() {
        let slots = sketch(&[5], 16);
        assert_eq!(slots.len(), 16);
        assert_eq!(slots, sketch(&[5, 5, 5], 16));
        assert_ne!(slots, sketch(&[6], 16));
    }

    #[test]
    fn order_does_not_matter() {
        let hashes: Vec<u64> = (0..500).map(mix64).collect();
        let reversed: Vec<u64> = hashes.iter().rev().copied().collect();
        assert_eq!(sketch(&hashes, 128), sketch(&reversed, 128));
    }

    #[test]
    fn a_subset_agrees_in_its_share_of_slots() {
        let hashes: Vec<u64> = (0..4000).map(mix64).collect();
        let (all, half) = (sketch(&hashes, 1024), sketch(&hashes[..2000], 1024));
        let equal = all.iter().zip(&half).filter(|(a, b)| a == b).count();
        assert!(
            (400..624).contains(&equal),
            "{equal} of 1024 for a similarity of one half"
        );
    }
}
