//! `distinct_v1`: SimHash, a sign for each bit of distinct feature hashes (Charikar, STOC 2002).

/// Counters of 64 bits at once, bit-sliced: plane p holds digit p of all 64 counts. Enough for 2**40 hashes.
type Counts = [u64; 40];

/// Bit b is 1 when strictly more than half of the hashes have it set.
pub fn simhash(hashes: &[u64]) -> u64 {
    let mut counts: Counts = [0; 40];
    for &hash in hashes {
        add(&mut counts, hash);
    }
    above(&counts, hashes.len() as u64 / 2)
}

fn add(counts: &mut Counts, hash: u64) {
    let mut carry = hash;
    for plane in counts {
        if carry == 0 {
            return;
        }
        (*plane, carry) = (*plane ^ carry, *plane & carry);
    }
}

/// The bits whose count is greater than `limit`.
fn above(counts: &Counts, limit: u64) -> u64 {
    let (mut greater, mut equal) = (0, u64::MAX);
    for (digit, plane) in counts.iter().enumerate().rev() {
        let wanted = if limit >> digit & 1 == 1 { u64::MAX } else { 0 };
        greater |= equal & plane & !wanted;
        equal &= !(plane ^ wanted);
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
        for count in [1, 2, 7, 8, 9, 127, 128, 1000, 4097] {
            let hashes: Vec<u64> = (0..count).map(mix64).collect();
            let plain = (0..64).fold(0, |bits, bit| {
                let set = hashes.iter().filter(|&hash| hash >> bit & 1 == 1).count() as u64;
                bits | u64::from(2 * set > count) << bit
            });
            assert_eq!(simhash(&hashes), plain, "{count} hashes");
        }
    }
}
