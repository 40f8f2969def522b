//! Keys: exact-match strings made from sketches, as `indexer/fingerprinting/keys.py` defines them.

use crate::grams::mix64;

const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// The keys of `bands` runs of `rows` consecutive slots, with blanks between them: the band's number and the hexadecimal
/// digits of its hash; or the last `digits` digits in base 32 of the hash mixed with the number, unless `digits` is 0.
pub fn bands(slots: &[u32], bands: usize, rows: usize, digits: usize) -> String {
    let mut text = Vec::with_capacity(bands * if digits == 0 { 20 } else { digits + 1 });
    for band in 0..bands {
        let slots = &slots[band * rows..(band + 1) * rows];
        let hash = slots.iter().fold(0, |hash, &slot| mix64(hash ^ u64::from(slot)));
        if digits == 0 {
            spell_number(band, &mut text);
            spell::<4>(hash, 16, &mut text);
        } else {
            spell::<5>(mix64(hash ^ band as u64), digits, &mut text);
        }
        text.push(b' ');
    }
    finish(text)
}

/// The keys of `blocks` equal parts of 64 bits, the most significant first, with blanks between them: the block's number
/// and the hexadecimal digits of its value. Bits left over are not used.
pub fn blocks(bits: u64, blocks: usize) -> String {
    let part = 64 / blocks.max(1);
    let mut text = Vec::with_capacity(blocks * 20);
    for block in 0..blocks {
        spell_number(block, &mut text);
        spell::<4>(bits << (part * block) >> (64 - part), part.div_ceil(4), &mut text);
        text.push(b' ');
    }
    finish(text)
}

/// Append two hexadecimal digits of a number, three from 256 on.
fn spell_number(number: usize, text: &mut Vec<u8>) {
    spell::<4>(number as u64, if number < 256 { 2 } else { 3 }, text);
}

/// Append the last `digits` digits of a value, of so many bits each.
fn spell<const BITS: usize>(value: u64, digits: usize, text: &mut Vec<u8>) {
    text.extend((0..digits).rev().map(|digit| DIGITS[(value >> (BITS * digit)) as usize & ((1 << BITS) - 1)]));
}

/// The text without its last blank.
fn finish(mut text: Vec<u8>) -> String {
    text.pop();
    String::from_utf8(text).unwrap_or_default()
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

    #[test]
    fn blocks_start_at_the_top() {
        assert_eq!(blocks(0x0123_4567_89AB_CDEF, 4), "000123 014567 0289ab 03cdef");
        assert_eq!(blocks(u64::MAX, 1), "00ffffffffffffffff");
        assert_eq!(blocks(u64::MAX, 5), "00fff 01fff 02fff 03fff 04fff");
        assert!(blocks(7, 0).is_empty());
    }

    #[test]
    fn bands_hash_their_slots() {
        let hash = mix64(mix64(1) ^ 2);
        assert_eq!(bands(&[1, 2, 3], 1, 2, 0), format!("00{hash:016x}"));
        assert!(bands(&[1; 257], 257, 1, 0).ends_with(&format!(" 100{:016x}", mix64(1))));
        assert!(bands(&[], 0, 3, 5).is_empty());
    }

    #[test]
    fn short_keys_have_digits_of_five_bits() {
        let mut text = Vec::new();
        spell::<5>((31 << 5) + 10, 3, &mut text);
        assert_eq!(text, b"0va");
        let value = mix64(mix64(7)) & ((1 << 60) - 1);
        let digits: String =
            (0..12).rev().map(|digit| char::from(DIGITS[(value >> (5 * digit)) as usize & 31])).collect();
        assert_eq!(bands(&[7], 1, 1, 12), digits);
    }
}
