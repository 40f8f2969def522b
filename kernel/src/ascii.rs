//! ASCII text: white space and controls go, letters become small, words are counted.

use crate::normalise::Normalised;

/// Append what stays of ASCII `text`. `goes` tells whether the hyphen at a place goes; `inside`, whether the text before
/// ended within a word. Returns that of this text.
pub fn read(text: &[u8], inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi2") {
        // SAFETY: the check above shows that the processor has these instructions.
        return unsafe { avx512::read(text, inside, out, goes) };
    }
    read_bytes(text, inside, out, goes)
}

fn read_bytes(text: &[u8], mut inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    let start = out.text.len();
    out.text.resize(start + text.len(), 0);
    let (mut end, mut words, mut letters) = (start, 0, false);
    for (place, &byte) in text.iter().enumerate() {
        let visible = byte.is_ascii_graphic();
        words += u64::from(visible && !inside);
        inside = visible;
        letters |= byte.is_ascii_alphabetic();
        out.text[end] = byte.to_ascii_lowercase();
        end += usize::from(visible && !(byte == b'-' && goes(place)));
    }
    out.text.truncate(end);
    out.words += words;
    out.letters |= letters;
    inside
}

/// The same, 64 bytes at a time.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use std::arch::x86_64::{
        __m512i, __mmask64, _mm512_add_epi8, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_mask_add_epi8,
        _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_set1_epi8, _mm512_storeu_epi8,
    };

    use super::Normalised;

    pub const SIZE: usize = 64;

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1,bmi2")]
    pub fn read(text: &[u8], mut inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
        out.text.reserve(text.len() + SIZE);
        for (number, part) in text.chunks(SIZE).enumerate() {
            let bytes = load(part);
            let visible = within(bytes, b'!', b'~');
            out.words += u64::from((visible & !(visible << 1 | u64::from(inside))).count_ones());
            inside = visible >> (part.len() - 1) & 1 == 1;
            out.letters |= within(_mm512_or_si512(bytes, all(0x20)), b'a', b'z') != 0;
            let mut keep = visible;
            let mut hyphens = _mm512_cmpeq_epi8_mask(bytes, all(b'-'));
            while hyphens != 0 {
                let place = hyphens.trailing_zeros() as usize;
                keep &= !(u64::from(goes(number * SIZE + place)) << place);
                hyphens &= hyphens - 1;
            }
            append(lower(bytes), keep, &mut out.text);
        }
        inside
    }

    /// The bytes of a part, 1 to 64; those beyond it are zero, which is blank.
    #[target_feature(enable = "avx512bw")]
    pub fn load(part: &[u8]) -> __m512i {
        // SAFETY: the mask leaves the bytes beyond the part unread.
        unsafe { _mm512_maskz_loadu_epi8(u64::MAX >> (SIZE - part.len()), part.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512bw")]
    pub fn all(byte: u8) -> __m512i {
        _mm512_set1_epi8(byte.cast_signed())
    }

    /// The bytes from `first` to `last`, both included.
    #[target_feature(enable = "avx512bw")]
    pub fn within(bytes: __m512i, first: u8, last: u8) -> __mmask64 {
        let moved = _mm512_add_epi8(bytes, all(first.wrapping_neg()));
        _mm512_cmplt_epu8_mask(moved, all(last - first + 1))
    }

    #[target_feature(enable = "avx512bw")]
    pub fn lower(bytes: __m512i) -> __m512i {
        _mm512_mask_add_epi8(bytes, within(bytes, b'A', b'Z'), bytes, all(0x20))
    }

    /// Append the bytes that `keep` names; the text must have room for a whole block.
    #[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
    pub fn append(bytes: __m512i, keep: __mmask64, text: &mut Vec<u8>) {
        debug_assert!(text.capacity() - text.len() >= SIZE);
        // SAFETY: `read` reserves a block beyond the bytes that there are; those up to the new length are written here.
        unsafe {
            let end = text.as_mut_ptr().add(text.len());
            _mm512_storeu_epi8(end.cast(), _mm512_maskz_compress_epi8(keep, bytes));
            text.set_len(text.len() + keep.count_ones() as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same() {
        let text: Vec<u8> =
            (0..5000_u32).map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 11) as u8 & 127).collect();
        for (start, end) in (0..300).map(|n| (n, n * 7)).filter(|(start, end)| start < end) {
            for inside in [false, true] {
                let (mut one, mut other) = (Normalised::default(), Normalised::default());
                let goes = |place: usize| place.is_multiple_of(2);
                let ends = read(&text[start..end], inside, &mut one, goes);
                assert_eq!(ends, read_bytes(&text[start..end], inside, &mut other, goes));
                assert_eq!((one.text, one.words, one.letters), (other.text, other.words, other.letters));
            }
        }
    }
}
