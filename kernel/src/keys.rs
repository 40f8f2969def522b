//! Keys: exact-match strings made from sketches, as `indexer/keys.py` defines them.

use std::fmt::Write;

use crate::grams::mix64;

/// The keys of `bands` runs of `rows` consecutive slots: the number of the band and its hash.
pub fn band_keys(slots: &[u32], bands: usize, rows: usize) -> Vec<String> {
    let hashed = |band: &[u32]| band.iter().fold(0, |hash, &slot| mix64(hash ^ u64::from(slot)));
    (0..bands)
        .map(|band| key(band, hashed(&slots[band * rows..(band + 1) * rows]), 16))
        .collect()
}

/// The keys of `blocks` equal parts of 64 bits, the most significant first; bits left over are not used.
pub fn block_keys(bits: u64, blocks: usize) -> Vec<String> {
    let part = 64 / blocks.max(1);
    let mask = u64::MAX >> (64 - part);
    (0..blocks)
        .map(|block| key(block, bits >> (64 - part * (block + 1)) & mask, part.div_ceil(4)))
        .collect()
}

fn key(place: usize, value: u64, digits: usize) -> String {
    let mut key = String::with_capacity(20);
    write!(key, "{place:02x}{value:0digits$x}").expect("a string takes what is written");
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_at_the_top() {
        assert_eq!(
            block_keys(0x0123_4567_89AB_CDEF, 4),
            ["000123", "014567", "0289ab", "03cdef"]
        );
        assert_eq!(block_keys(u64::MAX, 1), ["00ffffffffffffffff"]);
        assert_eq!(
            block_keys(u64::MAX, 5),
            ["00fff", "01fff", "02fff", "03fff", "04fff"]
        );
        assert!(block_keys(7, 0).is_empty());
    }

    #[test]
    fn bands_hash_their_slots() {
        let hash = mix64(mix64(1) ^ 2);
        assert_eq!(band_keys(&[1, 2, 3], 1, 2), [format!("00{hash:016x}")]);
    }
}
