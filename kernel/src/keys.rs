//! Keys: exact-match strings made from sketches, as `indexer/sketch/keys.py` defines them.

use crate::grams::mix64;

/// The number of a part, and its value.
pub type Key = (usize, u64);

/// The hash of each of `bands` runs of `rows` consecutive slots.
pub fn bands(slots: &[u32], bands: usize, rows: usize) -> Vec<Key> {
    let hashed = |band: &[u32]| band.iter().fold(0, |hash, &slot| mix64(hash ^ u64::from(slot)));
    (0..bands).map(|band| (band, hashed(&slots[band * rows..(band + 1) * rows]))).collect()
}

/// `blocks` equal parts of 64 bits, the most significant first; bits left over are not used.
pub fn blocks(bits: u64, blocks: usize) -> Vec<Key> {
    let part = 64 / blocks.max(1);
    (0..blocks).map(|block| (block, bits << (part * block) >> (64 - part))).collect()
}

/// The hexadecimal digits of the value of one of `blocks` blocks.
pub fn block_digits(blocks: usize) -> usize {
    (64 / blocks.max(1)).div_ceil(4)
}

/// The value of a short key: the hash of a band, mixed with the band's number.
pub fn short(&(band, hash): &Key) -> u64 {
    mix64(hash ^ band as u64)
}

/// Write the last `digits` digits of a value in base 32, at most 12.
pub fn spell_short(value: u64, digits: usize, room: &mut [u8; 12]) -> &str {
    for (place, digit) in room[..digits].iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdefghijklmnopqrstuv"[(value >> (5 * place)) as usize & 31];
    }
    str::from_utf8(&room[..digits]).unwrap_or_default()
}

/// Write two hexadecimal digits of the key's number, three from 256 on, and `digits` of its value.
pub fn spell((place, value): Key, digits: usize, room: &mut [u8; 19]) -> &str {
    let start = if place < 256 { 2 } else { 3 };
    write_hex(place as u64, &mut room[..start]);
    write_hex(value, &mut room[start..start + digits]);
    str::from_utf8(&room[..start + digits]).unwrap_or_default()
}

/// Fill the room with the hexadecimal digits of the value, the least significant last.
pub fn write_hex(value: u64, room: &mut [u8]) {
    for (place, digit) in room.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(value >> (4 * place)) as usize & 15];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(keys: &[Key], digits: usize) -> Vec<String> {
        keys.iter().map(|&key| spell(key, digits, &mut [0; 19]).to_owned()).collect()
    }

    #[test]
    fn blocks_start_at_the_top() {
        let spell = |bits, count| spelled(&blocks(bits, count), block_digits(count));
        assert_eq!(spell(0x0123_4567_89AB_CDEF, 4), ["000123", "014567", "0289ab", "03cdef"]);
        assert_eq!(spell(u64::MAX, 1), ["00ffffffffffffffff"]);
        assert_eq!(spell(u64::MAX, 5), ["00fff", "01fff", "02fff", "03fff", "04fff"]);
        assert!(spell(7, 0).is_empty());
    }

    #[test]
    fn bands_hash_their_slots() {
        let hash = mix64(mix64(1) ^ 2);
        assert_eq!(spelled(&bands(&[1, 2, 3], 1, 2), 16), [format!("00{hash:016x}")]);
        assert_eq!(spelled(&[(256, 1)], 16), ["1000000000000000001"]);
    }

    #[test]
    fn short_keys_have_digits_of_five_bits() {
        assert_eq!(spell_short((31 << 5) + 10, 3, &mut [0; 12]), "0va");
        assert_eq!(spell_short(u64::MAX, 12, &mut [0; 12]), "vvvvvvvvvvvv");
        assert_eq!(short(&(3, 5)), mix64(6));
    }
}
