//! The distinct hashes of a text, in the order of their first appearance.

use std::hash::{BuildHasher, RandomState};

const LEAST: usize = 1 << 10;

/// A set of 64-bit hashes: open addressing, linear probing, at most one place in four taken. Zero marks a free place.
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
        Distinct {
            places: Vec::new(),
            hashes: Vec::new(),
            zero: false,
            factor,
        }
    }
}

impl Distinct {
    /// Empty the set and make room for the hashes of a text; its memory is used again.
    pub fn clear(&mut self) {
        self.places.clear();
        self.places.resize(LEAST, 0);
        self.hashes.clear();
        self.zero = false;
    }

    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Add hashes, in order.
    pub fn extend(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert(hash);
        }
    }

    fn insert(&mut self, hash: u64) {
        if hash == 0 {
            if !self.zero {
                self.hashes.push(0);
            }
            self.zero = true;
            return;
        }
        if self.hashes.len() * 4 >= self.places.len() {
            self.grow();
        }
        let place = self.find(hash);
        if self.places[place] == 0 {
            self.places[place] = hash;
            self.hashes.push(hash);
        }
    }

    fn find(&self, hash: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut place = (hash.wrapping_mul(self.factor) >> 32) as usize & mask;
        while self.places[place] != hash && self.places[place] != 0 {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let room = self.places.len() * 4;
        self.places.clear();
        self.places.resize(room, 0);
        for index in 0..self.hashes.len() {
            let hash = self.hashes[index];
            let place = self.find(hash);
            self.places[place] = hash;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_once_in_order() {
        let mut set = Distinct::default();
        set.clear();
        set.extend(&[3, 0, 3, 1 << 40, 0, 1 << 41, 3]);
        assert_eq!(set.hashes(), [3, 0, 1 << 40, 1 << 41]);
        set.clear();
        assert!(set.hashes().is_empty());
    }

    #[test]
    fn grows_without_loss() {
        let wanted: Vec<u64> = (0..100_000).map(|n| n << 30).collect();
        let mut set = Distinct::default();
        set.clear();
        set.extend(&wanted);
        set.extend(&wanted);
        assert_eq!(set.hashes(), wanted);
    }
}
