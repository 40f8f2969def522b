//! `distinct_v1`: SimHash, a sign for each bit of distinct feature hashes (Charikar, STOC 2002).

use multiversion::multiversion;

/// A number for each of 64 bits, bit-sliced: word d holds digit d of all 64 numbers. Enough for 2**40 hashes.
type Numbers = [u64; DIGITS];

const DIGITS: usize = 40;
/// So many lanes count hashes side by side.
const LANES: usize = 8;

/// Bit b is 1 when strictly more than half of the hashes have it set.
pub fn simhash(hashes: &[u64]) -> u64 {
    above(&count(hashes), hashes.len() as u64 / 2)
}

/// Counts the hashes that have each bit set, by carry-save addition: at every digit, words are added in pairs, and the
/// carry of two words is kept for the next digit.
#[cfg_attr(not(feature = "no-avx512"), multiversion(targets = "simd"))]
#[cfg_attr(feature = "no-avx512", multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt")))]
fn count(hashes: &[u64]) -> Numbers {
    let (parts, rest) = hashes.as_chunks::<LANES>();
    let (mut counts, mut waiting) = ([[0; LANES]; DIGITS], [[0; LANES]; DIGITS]);
    for (before, part) in parts.iter().enumerate() {
        let (mut digit, mut words) = (0, *part);
        while before >> digit & 1 == 1 {
            for ((count, waiting), word) in counts[digit].iter_mut().zip(&waiting[digit]).zip(&mut words) {
                (*count, *word) = full_add(*count, *waiting, *word);
            }
            digit += 1;
        }
        waiting[digit] = words;
    }
    let mut sum = [0; DIGITS];
    for digit in 0..(usize::BITS - parts.len().leading_zeros()) as usize {
        counts[digit].iter().for_each(|&word| add(&mut sum, digit, word));
        if parts.len() >> digit & 1 == 1 {
            waiting[digit].iter().for_each(|&word| add(&mut sum, digit, word));
        }
    }
    for &word in rest {
        add(&mut sum, 0, word);
    }
    sum
}

/// Add one digit of 64 numbers.
#[inline(always)]
fn add(sum: &mut Numbers, digit: usize, mut word: u64) {
    for count in &mut sum[digit..] {
        (*count, word) = (*count ^ word, *count & word);
        if word == 0 {
            break;
        }
    }
}

/// Sum and carry of three digits.
#[inline(always)]
fn full_add(a: u64, b: u64, c: u64) -> (u64, u64) {
    (a ^ b ^ c, a & b | c & (a ^ b))
}

/// The bits whose number is greater than `limit`.
fn above(numbers: &Numbers, limit: u64) -> u64 {
    let (mut greater, mut equal) = (0, u64::MAX);
    for (digit, word) in numbers.iter().enumerate().rev() {
        let wanted = if limit >> digit & 1 == 1 { u64::MAX } else { 0 };
        greater |= equal & word & !wanted;
        equal &= !(word ^ wanted);
    }
    greater
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grams::mix64;

    #[test]
    fn ties_give_zero() {
        assert_eq!(simhash(&[3, 5]), 1);
        assert_eq!(simhash(&[u64::MAX]), u64::MAX);
    }

    #[test]
    fn counts_as_a_plain_loop_does() {
        for count in (0..40).chain([63, 64, 127, 128, 1000, 4097]) {
            let hashes: Vec<u64> = (0..count).map(mix64).collect();
            let plain = (0..64).fold(0, |bits, bit| {
                let set = hashes.iter().filter(|&hash| hash >> bit & 1 == 1).count() as u64;
                bits | u64::from(2 * set > count) << bit
            });
            assert_eq!(simhash(&hashes), plain, "{count} hashes");
        }
    }
}
