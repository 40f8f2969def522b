//! Pairs of MinHash sketches with slots of a byte that have enough slots in common (`indexer/joins/near_sketches.py`).

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

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "x86_64+sse4.2"))]
fn add_near(near: &mut Vec<[u32; 3]>, a: u32, row: &[u8], right: &[u8], least: u32) {
    for (b, other) in (0..).zip(right.chunks_exact(row.len())) {
        let mut equal = 0;
        for (left, right) in row.chunks(TOGETHER).zip(other.chunks(TOGETHER)) {
            equal += u32::from(left.iter().zip(right).map(|(a, b)| u8::from(a == b)).sum::<u8>());
        }
        if equal >= least {
            near.push([a, b, equal]);
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
            }
        }
    }

    #[test]
    fn no_sketches() {
        assert!(near_sketches(&[], &[1], 1, 0).is_empty());
    }
}
