//! `fss_v1`: MinHash by Fast Similarity Sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).

use crate::grams::{GAMMA, mix64};

/// Slots on their way: each keeps the least of (round << 32 | low half of the hash), so that the first round that reaches
/// it counts, and in it the least value.
pub struct Sketch {
    taken: Vec<u64>,
}

const EMPTY: u64 = u64::MAX;
/// The slots of most recipes.
const USUAL: usize = 128;

impl Sketch {
    pub fn new(slots: usize) -> Self {
        Sketch { taken: vec![EMPTY; slots] }
    }

    /// Let hashes play the first round; repeats change nothing.
    pub fn first_round(&mut self, hashes: &[u64]) {
        play_round(&mut self.taken, 0, hashes.iter().copied());
    }

    /// Let all hashes of the set play the other rounds, until every slot is taken.
    pub fn other_rounds(&mut self, hashes: &[u64]) {
        let slots = self.taken.len();
        let mut first_empty = 0;
        for turn in 1..2 * slots {
            while self.taken[first_empty] != EMPTY {
                first_empty += 1;
                if first_empty == slots {
                    return;
                }
            }
            let values = hashes.iter().map(|hash| mix64(hash.wrapping_add(GAMMA.wrapping_mul(turn as u64))));
            if turn < slots {
                play_round(&mut self.taken, turn as u64, values);
            } else if self.taken[turn - slots] == EMPTY {
                let least = values.map(|value| value as u32).min();
                self.taken[turn - slots] = least.map_or(EMPTY, u64::from);
            }
        }
    }

    pub fn is_full(&self) -> bool {
        !self.taken.contains(&EMPTY)
    }

    pub fn slots(&self) -> Vec<u32> {
        self.taken.iter().map(|&slot| slot as u32).collect()
    }
}

/// Every value tries for the slot that its high half chooses.
#[inline(always)]
fn play_round(taken: &mut [u64], turn: u64, values: impl Iterator<Item = u64>) {
    // The compiler multiplies by a constant, and checks no places.
    if let Ok(taken) = <&mut [u64; USUAL]>::try_from(&mut *taken) {
        return play_round_of(taken, turn, values);
    }
    play_round_of(taken, turn, values);
}

#[inline(always)]
fn play_round_of<T: AsMut<[u64]> + ?Sized>(taken: &mut T, turn: u64, values: impl Iterator<Item = u64>) {
    let taken = taken.as_mut();
    let slots = taken.len() as u64;
    for value in values {
        let slot = (((value >> 32) * slots) >> 32) as usize;
        taken[slot] = taken[slot].min(turn << 32 | value & 0xFFFF_FFFF);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(hashes: &[u64], slots: usize) -> Vec<u32> {
        let mut sketch = Sketch::new(slots);
        sketch.first_round(hashes);
        sketch.other_rounds(hashes);
        sketch.slots()
    }

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
        assert!((400..624).contains(&equal), "{equal} of 1024 for a similarity of one half");
    }
}
