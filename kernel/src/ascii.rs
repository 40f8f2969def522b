//! ASCII text: white space and controls go, letters become small, words are counted.

use crate::normalise::Normalised;
#[cfg(target_arch = "x86_64")]
use crate::processor::has_all;

/// Append what stays of ASCII `text`. `goes` tells whether the hyphen at a place goes; `inside`, whether the text before
/// ended within a word. Returns that of this text.
pub fn read(text: &[u8], inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_all!("avx512bw", "avx512vbmi2") {
        // SAFETY: the check above shows that the processor has these instructions.
        return unsafe { read_by_avx512(text, inside, out, goes) };
    } else if avx2::are_worthwhile(text) {
        // SAFETY: as above.
        return unsafe { read_by_avx2(text, inside, out, goes) };
    }
    #[cfg(target_arch = "aarch64")]
    if text.len() >= MIN_SIZE {
        return read_blocks::<neon::Bytes>(text, inside, out, goes);
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1,bmi2")]
fn read_by_avx512(text: &[u8], inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    read_blocks::<avx512::Bytes>(text, inside, out, goes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn read_by_avx2(text: &[u8], inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    read_blocks::<avx2::Bytes>(text, inside, out, goes)
}

/// The same, a block at a time.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn read_blocks<B: Block>(text: &[u8], mut inside: bool, out: &mut Normalised, goes: impl Fn(usize) -> bool) -> bool {
    out.text.reserve(text.len() + SIZE);
    for (number, part) in text.chunks(SIZE).enumerate() {
        let bytes = B::load(part);
        let visible = bytes.within(b'!', b'~');
        out.words += u64::from((visible & !(visible << 1 | u64::from(inside))).count_ones());
        inside = visible >> (part.len() - 1) & 1 == 1;
        let lower = bytes.lower();
        out.letters |= lower.within(b'a', b'z') != 0;
        let mut keep = visible;
        let mut hyphens = bytes.within(b'-', b'-');
        while hyphens != 0 {
            let place = hyphens.trailing_zeros() as usize;
            keep &= !(u64::from(goes(number * SIZE + place)) << place);
            hyphens &= hyphens - 1;
        }
        lower.append(keep, &mut out.text);
    }
    inside
}

/// The bytes of a block.
pub const SIZE: usize = 64;
/// Texts that are not read byte by byte where the end of a block takes as long as a whole one.
pub const MIN_SIZE: usize = SIZE / 2;

/// A block of ASCII. What uses it must have the instructions of its methods.
pub trait Block: Copy {
    /// The bytes of a part, 1 to 64; those beyond it are zero, which is blank.
    fn load(part: &[u8]) -> Self;

    /// The bytes from `first` to `last`, both included.
    fn within(self, first: u8, last: u8) -> u64;

    fn lower(self) -> Self;

    /// The lower case of letters, the digits, and blanks for all others.
    fn plain(self) -> Self;

    /// Append the bytes that `keep` names; the text must have room for a whole block.
    fn append(self, keep: u64, text: &mut Vec<u8>);
}

/// The bytes of a part, 1 to 64, and zeros.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn padded(part: &[u8]) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..part.len()].copy_from_slice(part);
    bytes
}

/// By the bytes of eight that are kept: their places, so that a shuffle puts them side by side.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static KEPT: [[u8; 8]; 256] = {
    let mut kept = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut place, mut end) = (0_u8, 0);
        while place < 8 {
            if mask >> place & 1 == 1 {
                kept[mask][end] = place;
                end += 1;
            }
            place += 1;
        }
        mask += 1;
    }
    kept
};

/// Append those of 64 bytes that `keep` names, eight at a time; `shuffle` writes eight bytes chosen by their places.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn append_eights(bytes: &[u8; SIZE], keep: u64, text: &mut Vec<u8>, shuffle: impl Fn(*const u8, &[u8; 8], *mut u8)) {
    debug_assert!(text.capacity() - text.len() >= SIZE);
    // SAFETY: there is room for a block beyond the bytes that there are; those up to the new length are written here.
    unsafe {
        let mut end = text.as_mut_ptr().add(text.len());
        if keep == u64::MAX {
            end.copy_from_nonoverlapping(bytes.as_ptr(), SIZE);
        } else {
            for (number, &mask) in keep.to_le_bytes().iter().enumerate() {
                shuffle(bytes.as_ptr().add(8 * number), &KEPT[usize::from(mask)], end);
                end = end.add(mask.count_ones() as usize);
            }
        }
        text.set_len(text.len() + keep.count_ones() as usize);
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use std::arch::x86_64::{
        __m512i, __mmask64, _mm512_add_epi8, _mm512_cmplt_epu8_mask, _mm512_mask_add_epi8, _mm512_mask_mov_epi8,
        _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_storeu_epi8,
    };

    use super::{Block, SIZE};

    #[derive(Clone, Copy)]
    pub struct Bytes(__m512i);

    // SAFETY: what uses a block has these instructions.
    impl Block for Bytes {
        #[inline(always)]
        fn load(part: &[u8]) -> Self {
            Bytes(unsafe { load(part) })
        }

        #[inline(always)]
        fn within(self, first: u8, last: u8) -> u64 {
            unsafe { within(self.0, first, last) }
        }

        #[inline(always)]
        fn lower(self) -> Self {
            Bytes(unsafe { lower(self.0) })
        }

        #[inline(always)]
        fn plain(self) -> Self {
            Bytes(unsafe { plain(self.0) })
        }

        #[inline(always)]
        fn append(self, keep: u64, text: &mut Vec<u8>) {
            unsafe { append(self.0, keep, text) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub fn load(part: &[u8]) -> __m512i {
        // SAFETY: the mask leaves the bytes beyond the part unread.
        unsafe { _mm512_maskz_loadu_epi8(u64::MAX >> (SIZE - part.len()), part.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn all(byte: u8) -> __m512i {
        _mm512_set1_epi8(byte.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn within(bytes: __m512i, first: u8, last: u8) -> __mmask64 {
        let moved = _mm512_add_epi8(bytes, all(first.wrapping_neg()));
        _mm512_cmplt_epu8_mask(moved, all(last - first + 1))
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn lower(bytes: __m512i) -> __m512i {
        _mm512_mask_add_epi8(bytes, within(bytes, b'A', b'Z'), bytes, all(0x20))
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn plain(bytes: __m512i) -> __m512i {
        let lower = lower(bytes);
        _mm512_mask_mov_epi8(all(b' '), within(lower, b'a', b'z') | within(bytes, b'0', b'9'), lower)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512vbmi2,popcnt")]
    fn append(bytes: __m512i, keep: __mmask64, text: &mut Vec<u8>) {
        debug_assert!(text.capacity() - text.len() >= SIZE);
        // SAFETY: there is room for a block beyond the bytes that there are; those up to the new length are written here.
        unsafe {
            let end = text.as_mut_ptr().add(text.len());
            _mm512_storeu_epi8(end.cast(), _mm512_maskz_compress_epi8(keep, bytes));
            text.set_len(text.len() + keep.count_ones() as usize);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm_loadl_epi64, _mm_shuffle_epi8, _mm_storel_epi64, _mm256_add_epi8, _mm256_and_si256,
        _mm256_blendv_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_storeu_si256,
    };

    use super::{Block, MIN_SIZE, SIZE, append_eights, padded};

    #[derive(Clone, Copy)]
    pub struct Bytes([__m256i; 2]);

    /// Returns true if the processor has these instructions, and they are faster for such a text.
    pub fn are_worthwhile(text: &[u8]) -> bool {
        text.len() >= MIN_SIZE
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
    }

    // SAFETY: what uses a block has these instructions.
    impl Block for Bytes {
        #[inline(always)]
        fn load(part: &[u8]) -> Self {
            unsafe { <&[u8; SIZE]>::try_from(part).map_or_else(|_| load(&padded(part)), |whole| load(whole)) }
        }

        #[inline(always)]
        fn within(self, first: u8, last: u8) -> u64 {
            let [low, high] = self.0.map(|half| unsafe { mask(within(half, first, last)) });
            u64::from(high) << 32 | u64::from(low)
        }

        #[inline(always)]
        fn lower(self) -> Self {
            Bytes(self.0.map(|half| unsafe { lower(half) }))
        }

        #[inline(always)]
        fn plain(self) -> Self {
            Bytes(self.0.map(|half| unsafe { plain(half) }))
        }

        #[inline(always)]
        fn append(self, keep: u64, text: &mut Vec<u8>) {
            let bytes = unsafe { stored(self) };
            append_eights(&bytes, keep, text, |bytes, places, end| unsafe { shuffle(bytes, places, end) });
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; SIZE]) -> Bytes {
        // SAFETY: both halves are in the block.
        unsafe { Bytes([0, 32].map(|start| _mm256_loadu_si256(bytes.as_ptr().add(start).cast()))) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn all(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte.cast_signed())
    }

    /// All bits of the bytes from `first` to `last`; all bytes are ASCII.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
        _mm256_and_si256(_mm256_cmpgt_epi8(bytes, all(first - 1)), _mm256_cmpgt_epi8(all(last + 1), bytes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u32 {
        _mm256_movemask_epi8(bytes).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn lower(bytes: __m256i) -> __m256i {
        _mm256_add_epi8(bytes, _mm256_and_si256(within(bytes, b'A', b'Z'), all(0x20)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn plain(bytes: __m256i) -> __m256i {
        let lower = lower(bytes);
        let is_plain = _mm256_or_si256(within(lower, b'a', b'z'), within(bytes, b'0', b'9'));
        _mm256_blendv_epi8(all(b' '), lower, is_plain)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn stored(block: Bytes) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        for (half, room) in block.0.into_iter().zip(bytes.as_chunks_mut::<32>().0) {
            // SAFETY: the room has 32 bytes.
            unsafe { _mm256_storeu_si256(room.as_mut_ptr().cast(), half) };
        }
        bytes
    }

    /// Write the bytes at these places of eight.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn shuffle(bytes: *const u8, places: &[u8; 8], end: *mut u8) {
        unsafe {
            let places = _mm_loadl_epi64(places.as_ptr().cast());
            _mm_storel_epi64(end.cast(), _mm_shuffle_epi8(_mm_loadl_epi64(bytes.cast()), places));
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub mod neon {
    use std::arch::aarch64::{
        uint8x16_t, vaddq_u8, vandq_u8, vbslq_u8, vcgeq_u8, vcleq_u8, vdupq_n_u8, vgetq_lane_u64, vld1_u8, vld1q_u8,
        vorrq_u8, vpaddq_u8, vreinterpretq_u64_u8, vst1_u8, vst1q_u8, vtbl1_u8,
    };

    use super::{Block, SIZE, append_eights, padded};

    #[derive(Clone, Copy)]
    pub struct Bytes([uint8x16_t; 4]);

    // SAFETY: every processor of this kind has these instructions.
    impl Block for Bytes {
        #[inline(always)]
        fn load(part: &[u8]) -> Self {
            let padded = padded(part);
            Bytes([0, 16, 32, 48].map(|start| unsafe { vld1q_u8(padded.as_ptr().add(start)) }))
        }

        #[inline(always)]
        fn within(self, first: u8, last: u8) -> u64 {
            unsafe { mask(self.0.map(|quarter| within(quarter, first, last))) }
        }

        #[inline(always)]
        fn lower(self) -> Self {
            Bytes(self.0.map(|quarter| unsafe { lower(quarter) }))
        }

        #[inline(always)]
        fn plain(self) -> Self {
            Bytes(self.0.map(|quarter| unsafe { plain(quarter) }))
        }

        #[inline(always)]
        fn append(self, keep: u64, text: &mut Vec<u8>) {
            let mut bytes = [0; SIZE];
            for (quarter, room) in self.0.into_iter().zip(bytes.as_chunks_mut::<16>().0) {
                unsafe { vst1q_u8(room.as_mut_ptr(), quarter) };
            }
            append_eights(&bytes, keep, text, |bytes, places, end| unsafe {
                vst1_u8(end, vtbl1_u8(vld1_u8(bytes), vld1_u8(places.as_ptr())));
            });
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn within(bytes: uint8x16_t, first: u8, last: u8) -> uint8x16_t {
        vandq_u8(vcgeq_u8(bytes, vdupq_n_u8(first)), vcleq_u8(bytes, vdupq_n_u8(last)))
    }

    /// A bit of each byte, of which all bits are equal.
    #[inline]
    #[target_feature(enable = "neon")]
    fn mask(bytes: [uint8x16_t; 4]) -> u64 {
        let bit: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: there are 16 of them.
        let bit = unsafe { vld1q_u8(bit.as_ptr()) };
        let [a, b, c, d] = bytes.map(|quarter| vandq_u8(quarter, bit));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn lower(bytes: uint8x16_t) -> uint8x16_t {
        vaddq_u8(bytes, vandq_u8(within(bytes, b'A', b'Z'), vdupq_n_u8(0x20)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn plain(bytes: uint8x16_t) -> uint8x16_t {
        let lower = lower(bytes);
        let is_plain = vorrq_u8(within(lower, b'a', b'z'), within(bytes, b'0', b'9'));
        vbslq_u8(is_plain, lower, vdupq_n_u8(b' '))
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
                assert_eq!((&one.text, one.words, one.letters), (&other.text, other.words, other.letters));
                #[cfg(target_arch = "x86_64")]
                if avx2::are_worthwhile(&text[start..end]) {
                    let mut other = Normalised::default();
                    // SAFETY: the check above shows that the processor has these instructions.
                    assert_eq!(ends, unsafe { read_by_avx2(&text[start..end], inside, &mut other, goes) });
                    assert_eq!((&one.text, one.words, one.letters), (&other.text, other.words, other.letters));
                }
            }
        }
    }
}
