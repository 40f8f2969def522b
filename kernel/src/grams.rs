//! `gram64_v1`: a 64-bit hash for every run of `width` code points.

use multiversion::multiversion;

pub const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
pub const MAX_WIDTH: usize = 6;
const MULTIPLIER: u64 = 0xD134_2543_DE82_EF95;
const CODE_BITS: usize = 21;

/// Stafford's variant 13 of the MurmurHash3 finaliser, as in SplitMix64.
#[inline(always)]
pub fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Put the hashes of all runs into `hashes`, in order; none when there are fewer code points.
///
/// # Panics
/// When the width is not 1 to 6.
pub fn gram_hashes<C: Copy + Into<u64>>(codes: &[C], width: usize, hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.resize((codes.len() + 1).saturating_sub(width), 0);
    match width {
        1 => fill::<C, 1>(codes, hashes),
        2 => fill::<C, 2>(codes, hashes),
        3 => fill::<C, 3>(codes, hashes),
        4 => fill::<C, 4>(codes, hashes),
        5 => fill::<C, 5>(codes, hashes),
        6 => fill::<C, 6>(codes, hashes),
        _ => panic!("a run has 1 to {MAX_WIDTH} code points, not {width}"),
    }
}

#[multiversion(targets = "simd")]
fn fill<C: Copy + Into<u64>, const WIDTH: usize>(codes: &[C], hashes: &mut [u64]) {
    for (run, hash) in codes.windows(WIDTH).zip(hashes) {
        let mut halves = [0; 2];
        for (place, &code) in run.iter().enumerate() {
            halves[place / 3] |= code.into() << (CODE_BITS * (place % 3));
        }
        *hash = mix64(
            MULTIPLIER
                .wrapping_mul(halves[1])
                .wrapping_add(halves[0])
                .wrapping_add(GAMMA),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hash() {
        let mut hashes = Vec::new();
        gram_hashes(b"fold", 4, &mut hashes);
        assert_eq!(hashes, [15_197_965_243_600_533_015]);
        gram_hashes(&[102_u32, 111, 108, 100], 4, &mut hashes);
        assert_eq!(hashes, [15_197_965_243_600_533_015]);
    }

    #[test]
    fn mixing_matches_the_published_value() {
        assert_eq!(mix64(1), 0x5692_161d_100b_05e5);
    }

    #[test]
    fn short_texts_have_no_runs() {
        let mut hashes = vec![7];
        gram_hashes(b"fol", 4, &mut hashes);
        assert!(hashes.is_empty());
    }
}
