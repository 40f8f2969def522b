//! The distinct hashes of a text, in the order of their first appearance.

use std::hash::{BuildHasher, RandomState};

use multiversion::multiversion;

/// Marks a free place; the hash that is zero has a flag of its own.
const FREE: u64 = 0;
/// Places are looked at by the bucket; each is filled from its start, and what does not fit goes on to the next.
const BUCKET: usize = 8;
/// Room is made for so many hashes at first, if so many may come; a text with more of them grows the table.
const MOST: usize = 1 << 15;

/// A set of 64-bit hashes: a table with open addressing, at most half full, and a list.
///
/// Where a hash goes depends on a random factor, so that nobody can write a text whose hashes all go to one place.
pub struct Distinct {
    places: Vec<u64>,
    hashes: Vec<u64>,
    zero: bool,
    factor: u64,
}

impl Default for Distinct {
    fn default() -> Self {
        let factor = RandomState::new().hash_one(0) | 1;
        Distinct { places: Vec::new(), hashes: Vec::new(), zero: false, factor }
    }
}

impl Distinct {
    /// Empty the set, before `coming` hashes with repeats; its memory is used again.
    pub fn clear(&mut self, coming: usize) {
        self.places.clear();
        self.hashes.clear();
        self.zero = false;
        self.make_room(coming.min(MOST));
    }

    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Add hashes, in order.
    pub fn extend(&mut self, hashes: &[u64]) {
        self.make_room(self.hashes.len() + hashes.len());
        insert(&mut self.places, self.factor, hashes, &mut self.hashes);
        if !self.zero && hashes.contains(&0) {
            self.zero = true;
            self.hashes.push(0);
        }
    }

    /// Make the table large enough for `count` hashes.
    fn make_room(&mut self, count: usize) {
        if self.places.len() < 2 * count {
            let hashes = std::mem::take(&mut self.hashes);
            self.places.clear();
            self.places.resize((2 * count).next_power_of_two().max(BUCKET), FREE);
            insert(&mut self.places, self.factor, &hashes, &mut self.hashes);
        }
    }
}

/// Append those hashes to the list that are not in the table, and put them there. Zero is passed over.
#[multiversion(targets = "simd")]
fn insert(places: &mut [u64], factor: u64, hashes: &[u64], list: &mut Vec<u64>) {
    let mask = places.len() - BUCKET;
    let mut end = list.len();
    list.resize(end + hashes.len(), 0);
    for &hash in hashes {
        let mut start = (hash.wrapping_mul(factor) >> 32) as usize & mask;
        let place = loop {
            let hits = hits(&places[start..start + BUCKET], hash);
            if hits != 0 {
                break start + hits.trailing_zeros() as usize;
            }
            start = (start + BUCKET) & mask;
        };
        list[end] = hash;
        end += usize::from(places[place] != hash);
        places[place] = hash;
    }
    list.truncate(end);
}

/// A bit for each place of the bucket that holds the hash or is free; the first of them is where the hash belongs.
#[inline(always)]
fn hits(bucket: &[u64], hash: u64) -> u8 {
    let mut hits = 0;
    for (bit, &place) in bucket.iter().enumerate() {
        hits |= u8::from((place == hash) | (place == FREE)) << bit;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_once() {
        let mut set = Distinct::default();
        set.clear(7);
        set.extend(&[3, 0, 3, 1 << 40, 0, 1 << 41, 3]);
        assert_eq!(set.hashes(), [3, 1 << 40, 1 << 41, 0]);
        set.clear(0);
        assert!(set.hashes().is_empty());
        set.extend(&[0, 3, 0]);
        set.extend(&[0, 3, 0, 4]);
        assert_eq!(set.hashes(), [3, 0, 4]);
    }

    #[test]
    fn grows_without_loss() {
        let wanted: Vec<u64> = (1..100_000).map(|n| n << 30).collect();
        let mut set = Distinct::default();
        for part in wanted.chunks(1000).chain(wanted.chunks(700)) {
            set.extend(part);
        }
        assert_eq!(set.hashes(), wanted);
    }
}
