//! `sip24_v1` and `sip24_pairs_v1`: SipHash-2-4 (Aumasson & Bernstein, 2012) of a message of two 64-bit words, little-endian.

/// A secret key of 128 bits, as two little-endian words.
pub type Key = [u64; 2];

const SIXTEEN_BYTES: u64 = 16 << 56;

/// The keyed hash of 16 bytes.
#[inline(always)]
pub fn siphash24(key: Key, message: [u64; 2]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    for word in [message[0], message[1], SIXTEEN_BYTES] {
        state[3] ^= word;
        rounds::<2>(&mut state);
        state[0] ^= word;
    }
    state[2] ^= 0xFF;
    rounds::<4>(&mut state);
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

#[inline(always)]
fn rounds<const COUNT: usize>(v: &mut [u64; 4]) {
    for _ in 0..COUNT {
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_that_its_authors_published() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash24(key, key), 0x3f2a_cc7f_57c2_9bdb);
    }
}
