//! The sums of the letters of words (`words.rs`), eight letters at a time.

use std::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_castsi512_si128,
    _mm512_cmpeq_epi64_mask, _mm512_cmplt_epu64_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512, _mm512_mask_add_epi64,
    _mm512_maskz_compress_epi64, _mm512_maskz_mov_epi64, _mm512_mullo_epi64, _mm512_permutexvar_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512,
    _mm512_xor_si512,
};

use crate::grams::{FIRST_FACTOR, SECOND_FACTOR, mix64};
use crate::words::{BLANK, CODE_BITS, FIRST_UNSPACED, is_unspaced, letter};

const SIZE: usize = 8;
/// By the blanks among eight characters: how many follow the last blank before each; if there is none, how many precede it.
static PLACES: [u64; 1 << SIZE] = places();

/// Make a list of the sum of each word of normalised code points, which are at most so many words.
///
/// Until the end these are sums from the beginning of the text, after a zero, so that nothing depends on where a word begins.
#[target_feature(enable = "avx512f,avx512dq,popcnt,lzcnt,bmi1,bmi2")]
pub fn add<C: Copy + Into<u64>>(codes: &[C], words: usize, sums: &mut Vec<u64>) {
    sums.clear();
    sums.resize(words + SIZE + 1, 0);
    let (mut end, mut total, mut length) = (1, all(0), 0);
    let (parts, rest) = codes.as_chunks::<SIZE>();
    for part in parts {
        let eight: [u64; SIZE] = part.map(Into::into);
        // SAFETY: the array has 64 bytes.
        let vector = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
        if _mm512_cmplt_epu64_mask(vector, all(FIRST_UNSPACED)) != u8::MAX {
            (end, total, length) = add_each(&eight, sums, end, total, length);
            continue;
        }
        let blanks = _mm512_cmpeq_epi64_mask(vector, all(BLANK));
        let so_far = sums_so_far(vector, blanks, length, total);
        let room = &mut sums[end..end + SIZE];
        // SAFETY: the room has 64 bytes.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_maskz_compress_epi64(blanks, so_far)) };
        end += blanks.count_ones() as usize;
        total = _mm512_permutexvar_epi64(all(SIZE as u64 - 1), so_far);
        length = u64::from(blanks.leading_zeros()) + if blanks == 0 { length } else { 0 };
    }
    (end, total, length) = add_each(rest, sums, end, total, length);
    if length > 0 {
        sums[end] = first(total);
        end += 1;
    }
    let list = &mut sums[..end];
    for place in 1..list.len() {
        list[place - 1] = list[place].wrapping_sub(list[place - 1]);
    }
    sums.truncate(end - 1);
}

/// Add characters one by one.
#[target_feature(enable = "avx512f")]
fn add_each<C: Copy + Into<u64>>(
    codes: &[C],
    sums: &mut [u64],
    mut end: usize,
    total: __m512i,
    mut length: u64,
) -> (usize, __m512i, u64) {
    let mut sum = first(total);
    for &code in codes {
        let code = code.into();
        let alone = is_unspaced(code);
        if (alone || code == BLANK) && length > 0 {
            (sums[end], length) = (sum, 0);
            end += 1;
        }
        if code != BLANK {
            sum = sum.wrapping_add(mix64(letter(code, length)));
            length += 1;
        }
        if alone {
            (sums[end], length) = (sum, 0);
            end += 1;
        }
    }
    (end, all(sum), length)
}

/// The sum of all letters up to each of eight characters, of which `blanks` names those between words.
///
/// `length`: the letters so far of the word that began before; `total`, eight times: the sum of all letters before.
#[target_feature(enable = "avx512f,avx512dq")]
fn sums_so_far(codes: __m512i, blanks: u8, length: u64, total: __m512i) -> __m512i {
    let of_word_before = blanks ^ blanks.wrapping_sub(1);
    let places = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(PLACES[usize::from(blanks)].cast_signed()));
    let places = _mm512_mask_add_epi64(places, of_word_before, places, all(length));
    let letters = _mm512_add_epi64(codes, _mm512_slli_epi64::<{ CODE_BITS as u32 }>(places));
    let mut sums = _mm512_maskz_mov_epi64(!blanks, mix(letters));
    let zero = _mm512_setzero_si512();
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<7>(sums, zero));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<6>(sums, zero));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<4>(sums, zero));
    _mm512_add_epi64(sums, total)
}

/// `mix64` of eight values.
#[target_feature(enable = "avx512f,avx512dq")]
fn mix(values: __m512i) -> __m512i {
    let values = _mm512_xor_si512(values, _mm512_srli_epi64::<30>(values));
    let values = _mm512_mullo_epi64(values, all(FIRST_FACTOR));
    let values = _mm512_xor_si512(values, _mm512_srli_epi64::<27>(values));
    let values = _mm512_mullo_epi64(values, all(SECOND_FACTOR));
    _mm512_xor_si512(values, _mm512_srli_epi64::<31>(values))
}

#[target_feature(enable = "avx512f")]
fn first(values: __m512i) -> u64 {
    _mm_cvtsi128_si64(_mm512_castsi512_si128(values)).cast_unsigned()
}

#[target_feature(enable = "avx512f")]
fn all(value: u64) -> __m512i {
    _mm512_set1_epi64(value.cast_signed())
}

const fn places() -> [u64; 1 << SIZE] {
    let mut all = [0; 1 << SIZE];
    let mut blanks = 0;
    while blanks < all.len() {
        let (mut place, mut character) = (0, 0);
        while character < SIZE {
            all[blanks] |= place << (8 * character);
            place = if blanks >> character & 1 == 1 { 0 } else { place + 1 };
            character += 1;
        }
        blanks += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    /// Words of many lengths, some in scripts without spaces.
    fn text(seed: u64, length: u64) -> Vec<u32> {
        let word = |number| {
            let chance = mix64(seed << 32 | number);
            let letters =
                (0..=chance % 11 * (chance >> 8 & 1)).map(move |place| 97 + mix64(chance ^ place) as u32 % 26);
            match chance >> 16 & 15 {
                0 => vec![0x91CD],
                1 => vec![0x0E01, 0x91CD],
                2 => (0..70).map(|place| 0x430 + place % 32).collect(),
                _ => letters.collect(),
            }
        };
        let mut codes: Vec<u32> = Vec::new();
        for word in (0..length).map(word) {
            let apart = codes.last().is_some_and(|&code| !is_unspaced(code.into())) && !is_unspaced(word[0].into());
            codes.extend(apart.then_some(0x20));
            codes.extend(word);
        }
        codes
    }

    fn one_by_one<C: Copy + Into<u64>>(codes: &[C]) -> Vec<u64> {
        let mut sums = Vec::new();
        words::add_one_by_one::<C, false>(codes, codes.len(), &mut sums, &mut words::Letters::default());
        sums
    }

    #[test]
    fn both_ways_add_up_the_same() {
        if !(is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("lzcnt")) {
            return;
        }
        let mut sums = Vec::new();
        for seed in 0..500 {
            let codes = text(seed, seed / 4);
            // SAFETY: the check above shows that the processor has these instructions.
            unsafe { add(&codes, codes.len(), &mut sums) };
            assert_eq!(sums, one_by_one(&codes), "{seed}");
            let ascii: Vec<u8> = codes.iter().map(|&code| u8::try_from(code).unwrap_or(b'x')).collect();
            // SAFETY: as above.
            unsafe { add(&ascii, ascii.len(), &mut sums) };
            assert_eq!(sums, one_by_one(&ascii), "{seed}");
        }
    }
}
