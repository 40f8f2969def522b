//! `gram64_v1`: a 64-bit hash for every run of `width` code points; under a secret key `sip24_v1`.

use multiversion::multiversion;

use crate::siphash::{Key, siphash24};

pub const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
/// The factors of `mix64`.
pub const FIRST_FACTOR: u64 = 0xBF58_476D_1CE4_E5B9;
pub const SECOND_FACTOR: u64 = 0x94D0_49BB_1331_11EB;
pub const MAX_WIDTH: usize = 6;
const MULTIPLIER: u64 = 0xD134_2543_DE82_EF95;
const CODE_BITS: usize = 21;
const CHUNK: usize = 1024;

/// Stafford's variant 13 of the MurmurHash3 finaliser, as in SplitMix64.
#[inline(always)]
pub const fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(FIRST_FACTOR);
    let value = (value ^ (value >> 27)).wrapping_mul(SECOND_FACTOR);
    value ^ (value >> 31)
}

/// Hand the hashes of all runs to `take`, in order, some at a time; none when there are fewer code points.
///
/// # Panics
/// When the width is not 1 to 6.
pub fn each_chunk<C: Copy + Into<u64>>(codes: &[C], width: usize, key: Option<Key>, mut take: impl FnMut(&[u64])) {
    let mut room = [0; CHUNK];
    let count = (codes.len() + 1).saturating_sub(width);
    for start in (0..count).step_by(CHUNK) {
        let hashes = &mut room[..CHUNK.min(count - start)];
        let codes = &codes[start..start + hashes.len() + width - 1];
        match width {
            1 => fill::<C, 1>(codes, key, hashes),
            2 => fill::<C, 2>(codes, key, hashes),
            3 => fill::<C, 3>(codes, key, hashes),
            4 => fill::<C, 4>(codes, key, hashes),
            5 => fill::<C, 5>(codes, key, hashes),
            6 => fill::<C, 6>(codes, key, hashes),
            _ => panic!("a run has 1 to {MAX_WIDTH} code points, not {width}"),
        }
        take(hashes);
    }
}

fn fill<C: Copy + Into<u64>, const WIDTH: usize>(codes: &[C], key: Option<Key>, hashes: &mut [u64]) {
    match key {
        None => fill_public::<C, WIDTH>(codes, hashes),
        Some(key) => fill_keyed::<C, WIDTH>(codes, key, hashes),
    }
}

#[cfg_attr(not(feature = "no-avx512"), multiversion(targets = "simd"))]
#[cfg_attr(feature = "no-avx512", multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt")))]
fn fill_public<C: Copy + Into<u64>, const WIDTH: usize>(codes: &[C], hashes: &mut [u64]) {
    for (run, hash) in codes.windows(WIDTH).zip(hashes) {
        let [low, high] = packed::<C, WIDTH>(run);
        *hash = mix64(MULTIPLIER.wrapping_mul(high).wrapping_add(low).wrapping_add(GAMMA));
    }
}

#[cfg_attr(not(feature = "no-avx512"), multiversion(targets = "simd"))]
#[cfg_attr(feature = "no-avx512", multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt")))]
fn fill_keyed<C: Copy + Into<u64>, const WIDTH: usize>(codes: &[C], key: Key, hashes: &mut [u64]) {
    for (run, hash) in codes.windows(WIDTH).zip(hashes) {
        *hash = siphash24(key, packed::<C, WIDTH>(run));
    }
}

/// The first three code points of a run and the others, 21 bits each.
#[inline(always)]
fn packed<C: Copy + Into<u64>, const WIDTH: usize>(run: &[C]) -> [u64; 2] {
    let mut halves = [0; 2];
    for (place, &code) in run.iter().enumerate() {
        halves[place / 3] |= code.into() << (CODE_BITS * (place % 3));
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes<C: Copy + Into<u64>>(codes: &[C], width: usize) -> Vec<u64> {
        let mut all = Vec::new();
        each_chunk(codes, width, None, |hashes| all.extend_from_slice(hashes));
        all
    }

    #[test]
    fn known_hash() {
        assert_eq!(hashes(b"fold", 4), [15_197_965_243_600_533_015]);
        assert_eq!(hashes(&[102_u32, 111, 108, 100], 4), [15_197_965_243_600_533_015]);
    }

    #[test]
    fn mixing_matches_the_published_value() {
        assert_eq!(mix64(1), 0x5692_161d_100b_05e5);
    }

    #[test]
    fn short_texts_have_no_runs() {
        assert!(hashes(b"fol", 4).is_empty());
    }

    #[test]
    fn chunks_leave_no_gap() {
        let text: Vec<u8> = (0..3 * CHUNK + 5).map(|n| (n * n) as u8).collect();
        for width in 1..=MAX_WIDTH {
            let alone: Vec<u64> = text.windows(width).flat_map(|run| hashes(run, width)).collect();
            assert_eq!(hashes(&text, width), alone);
        }
    }
}
