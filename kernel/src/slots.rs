//! Pairs of MinHash sketches with slots of a byte that have enough slots in common (`indexer/fingerprinting/minhash.py`,
//! `indexer/spark/bands.py`).

use multiversion::multiversion;

/// Slots that are counted in a byte.
const TOGETHER: usize = 128;

/// For each sketch of `left` those of `right` with at least `least` equal slots, in order: places and equal slots.
pub fn near_sketches(left: &[u8], right: &[u8], width: usize, least: u32) -> Vec<[u32; 3]> {
    let mut near = Vec::new();
    for (a, row) in (0..).zip(left.chunks_exact(width)) {
        add_near(&mut near, a, row, right, least);
    }
    near
}

fn add_near(near: &mut Vec<[u32; 3]>, a: u32, row: &[u8], right: &[u8], least: u32) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_here() {
        // SAFETY: the check above shows that the processor has these instructions.
        return unsafe { avx512::add_near(near, a, row, right, least) };
    }
    add_near_in_bytes(near, a, row, right, least);
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.2"))]
fn add_near_in_bytes(near: &mut Vec<[u32; 3]>, a: u32, row: &[u8], right: &[u8], least: u32) {
    add_near_by(count_equal, near, a, row, right, least);
}

/// A row at a time: one loop over both sides took 1.4 times as long.
#[inline(always)]
fn add_near_by(
    count_equal: impl Fn(&[u8], &[u8]) -> u32,
    near: &mut Vec<[u32; 3]>,
    a: u32,
    row: &[u8],
    right: &[u8],
    least: u32,
) {
    for (b, other) in (0..).zip(right.chunks_exact(row.len())) {
        let equal = count_equal(row, other);
        if equal >= least {
            near.push([a, b, equal]);
        }
    }
}

#[inline(always)]
fn count_equal(left: &[u8], right: &[u8]) -> u32 {
    let mut equal = 0;
    for (left, right) in left.chunks(TOGETHER).zip(right.chunks(TOGETHER)) {
        equal += u32::from(left.iter().zip(right).map(|(a, b)| u8::from(a == b)).sum::<u8>());
    }
    equal
}

/// The same, 64 slots at a time, each a bit of the answer.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::_mm512_cmpeq_epi8_mask;

    use super::{Bucket, NearPairs, add_bucket_by, add_near_by};
    use crate::ascii::SIZE;
    use crate::ascii::avx512::load;
    use crate::processor::has_all;

    pub fn is_here() -> bool {
        has_all!("avx512bw", "avx512vl", "popcnt")
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    pub fn add_near(near: &mut Vec<[u32; 3]>, a: u32, row: &[u8], right: &[u8], least: u32) {
        add_near_by(|left, right| count_equal(left, right), near, a, row, right, least);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    pub fn add_bucket(result: &mut NearPairs, bucket: &Bucket, least: u32) {
        add_bucket_by(|left, right| count_equal(left, right), result, bucket, least);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    fn count_equal(left: &[u8], right: &[u8]) -> u32 {
        let (mut lefts, mut rights) = (left.chunks_exact(SIZE), right.chunks_exact(SIZE));
        let mut equal = 0;
        for (left, right) in lefts.by_ref().zip(rights.by_ref()) {
            equal += _mm512_cmpeq_epi8_mask(load(left), load(right)).count_ones();
        }
        equal + super::count_equal(lefts.remainder(), rights.remainder())
    }
}

/// Sketches of `width` slots, each with `bands` keys. A pair that shares a key in a band in which both are `open` is a
/// candidate, in the first band whose key it shares.
#[derive(Clone, Copy)]
pub struct Buckets<'a> {
    pub sketches: &'a [u8],
    pub width: usize,
    pub keys: &'a [u64],
    pub bands: usize,
    pub open: &'a [u8],
}

/// Candidates with at least `least` equal slots, and the number of all candidates.
#[derive(Default)]
pub struct NearPairs {
    pub near: Vec<[u32; 3]>,
    pub candidates: u64,
}

impl Buckets<'_> {
    /// The candidates that are near, by band and key, then in the order of the sketches.
    pub fn near(self, least: u32) -> NearPairs {
        let mut result = NearPairs::default();
        let (mut sketches, mut earlier) = (Vec::new(), Vec::new());
        for band in 0..self.bands {
            let members = self.members(band);
            for bucket in members.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
                sketches.clear();
                earlier.clear();
                for &(_, member) in bucket {
                    let place = member as usize;
                    sketches.extend_from_slice(&self.sketches[place * self.width..][..self.width]);
                    earlier.extend_from_slice(&self.keys[place * self.bands..][..band]);
                }
                let bucket =
                    Bucket { members: bucket, sketches: &sketches, width: self.width, earlier: &earlier, band };
                add_bucket(&mut result, &bucket, least);
            }
        }
        result
    }

    fn members(self, band: usize) -> Vec<(u64, u32)> {
        let keys = self.keys.chunks_exact(self.bands).zip(self.open.chunks_exact(self.bands));
        let open = (0..).zip(keys).filter(|(_, (_, open))| open[band] != 0);
        let mut members: Vec<_> = open.map(|(place, (keys, _))| (keys[band], place)).collect();
        members.sort_unstable();
        members
    }
}

/// Sketches that share the key of a band, each with its place, and their keys of the bands before.
struct Bucket<'a> {
    members: &'a [(u64, u32)],
    sketches: &'a [u8],
    width: usize,
    earlier: &'a [u64],
    band: usize,
}

fn add_bucket(result: &mut NearPairs, bucket: &Bucket, least: u32) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_here() {
        // SAFETY: the check above shows that the processor has these instructions.
        return unsafe { avx512::add_bucket(result, bucket, least) };
    }
    add_bucket_in_bytes(result, bucket, least);
}

#[multiversion(targets("x86_64+avx2", "x86_64+sse4.2"))]
fn add_bucket_in_bytes(result: &mut NearPairs, bucket: &Bucket, least: u32) {
    add_bucket_by(count_equal, result, bucket, least);
}

#[inline(always)]
fn add_bucket_by(count_equal: impl Fn(&[u8], &[u8]) -> u32, result: &mut NearPairs, bucket: &Bucket, least: u32) {
    let &Bucket { members, sketches, width, earlier, band } = bucket;
    for a in 0..members.len() {
        let (row, keys) = (&sketches[a * width..][..width], &earlier[a * band..][..band]);
        for b in a + 1..members.len() {
            let others = &earlier[b * band..][..band];
            let shared: u64 = keys.iter().zip(others).map(|(key, other)| u64::from(key == other)).sum();
            if shared > 0 {
                continue;
            }
            result.candidates += 1;
            let equal = count_equal(row, &sketches[b * width..][..width]);
            if equal >= least {
                result.near.push([members[a].1, members[b].1, equal]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grams::mix64;

    #[test]
    fn counts_as_a_plain_loop_does() {
        for width in [1, 31, 127, 128, 129, 160, 1024] {
            let sketch = |seed: u64| (0..width as u64).map(move |slot| mix64(seed * 2048 + slot) as u8 & 3);
            let all: Vec<u8> = (0..7).flat_map(sketch).collect();
            let (left, right) = all.split_at(3 * width);
            for least in [0, width as u32 / 4, width as u32 / 3] {
                let mut plain = Vec::new();
                for a in 0..3 {
                    for b in 0..4 {
                        let equal = (0..width).filter(|slot| left[a * width + slot] == right[b * width + slot]).count();
                        if equal as u32 >= least {
                            plain.push([a as u32, b as u32, equal as u32]);
                        }
                    }
                }
                assert_eq!(near_sketches(left, right, width, least), plain, "{width} slots, {least}");
                let mut in_bytes = Vec::new();
                for (a, row) in (0..).zip(left.chunks_exact(width)) {
                    add_near_in_bytes(&mut in_bytes, a, row, right, least);
                }
                assert_eq!(in_bytes, plain, "{width} slots, {least}, portable");
            }
        }
    }

    #[test]
    fn a_pair_is_a_candidate_in_its_first_shared_band_where_that_is_open() {
        let (sketches, keys) = ([1, 2, 1, 2, 1, 9, 8, 8], [5, 7, 5, 7, 4, 7, 5, 6]);
        let near = |open: &[u8]| {
            let pairs = Buckets { sketches: &sketches, width: 2, keys: &keys, bands: 2, open }.near(1);
            (pairs.near, pairs.candidates)
        };
        assert_eq!(near(&[1; 8]), (vec![[0, 1, 2], [0, 2, 1], [1, 2, 1]], 5));
        assert_eq!(near(&[0, 1, 0, 1, 0, 1, 0, 1]), (vec![[0, 2, 1], [1, 2, 1]], 2));
        assert_eq!(near(&[0; 8]), (vec![], 0));
    }

    #[test]
    fn a_bucket_is_the_same_by_bytes() {
        let sketches: Vec<u8> = (0..5 * 160).map(|slot| mix64(slot) as u8 & 1).collect();
        let members: Vec<(u64, u32)> = (0..5).map(|place| (7, place)).collect();
        let bucket = Bucket { members: &members, sketches: &sketches, width: 160, earlier: &[1, 2, 3, 1, 4], band: 1 };
        let (mut best, mut by_bytes) = (NearPairs::default(), NearPairs::default());
        add_bucket(&mut best, &bucket, 75);
        add_bucket_in_bytes(&mut by_bytes, &bucket, 75);
        assert_eq!((&best.near, best.candidates), (&by_bytes.near, by_bytes.candidates));
        assert_eq!(best.candidates, 9);
        assert!((1..9).contains(&best.near.len()), "{:?}", best.near);
    }

    #[test]
    fn no_sketches() {
        assert!(near_sketches(&[], &[1], 1, 0).is_empty());
    }
}
