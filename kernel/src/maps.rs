//! Parity maps: whether the maps of two sets differ in at most so many bits (`indexer/grouping/parity_maps.py`).

use multiversion::multiversion;

const TOGETHER: usize = 16;

/// Maps of `words` words each, one after the other.
pub struct Maps<'a> {
    words: usize,
    all: &'a [u64],
}

impl<'a> Maps<'a> {
    /// `all` holds a whole number of maps.
    pub fn new(all: &'a [u64], words: usize) -> Self {
        Self { words, all }
    }

    fn map(&self, place: usize) -> &'a [u64] {
        &self.all[place * self.words..(place + 1) * self.words]
    }

    /// For each pair of places 1 when the maps differ in at most `most` bits, else 0. Places beyond the last panic.
    pub fn differ_at_most(&self, pairs: impl Iterator<Item = (usize, usize, i32)>) -> Vec<u8> {
        pairs.map(|(a, b, most)| u8::from(within(self.map(a), self.map(b), most))).collect()
    }
}

/// Returns true if two maps differ in at most `most` bits; stops as soon as that is known.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
fn within(a: &[u64], b: &[u64], most: i32) -> bool {
    let mut differ = 0i64;
    for (a, b) in a.chunks(TOGETHER).zip(b.chunks(TOGETHER)) {
        differ += a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum::<u64>().cast_signed();
        if differ > i64::from(most) {
            return false;
        }
    }
    differ <= i64::from(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grams::mix64;

    #[test]
    fn counts_as_a_plain_loop_does() {
        for words in [1, 15, 16, 17, 64] {
            let all: Vec<u64> = (0..6 * words as u64).map(|place| mix64(place) & mix64(place + 99)).collect();
            let maps = Maps::new(&all, words);
            for (a, b) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))) {
                let plain: u32 = maps.map(a).iter().zip(maps.map(b)).map(|(a, b)| (a ^ b).count_ones()).sum();
                let most = plain.cast_signed();
                let pairs = [most - 1, most, most + 1].map(|most| (a, b, most));
                assert_eq!(maps.differ_at_most(pairs.into_iter()), [0, 1, 1], "{words} words, {a} and {b}");
            }
        }
    }

    #[test]
    fn no_pairs() {
        assert!(Maps::new(&[], 16).differ_at_most(std::iter::empty()).is_empty());
    }
}
