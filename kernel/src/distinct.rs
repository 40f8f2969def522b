//! The distinct hashes of a text.

use std::hash::{BuildHasher, RandomState};

/// Marks a free place; the hash that is zero is in the list alone.
const FREE: u64 = 0;
/// Hashes are put in by so many at a time.
const PART: usize = 1 << 10;
/// Room is made for so many hashes at first, if so many may come; a text with more of them grows the table.
const MOST: usize = 1 << 15;

/// A set of 64-bit hashes: a table with linear probing, at most half full, and a list.
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
        self.make_room(coming.clamp(1, MOST));
    }

    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Add hashes.
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
            self.places.resize((2 * count).next_power_of_two(), FREE);
            self.zero = false;
            self.extend(&hashes);
        }
    }
}

/// Append those hashes to the list that are not in the table, and put them there. Zero is passed over.
///
/// Nothing branches on whether a hash is new, for that is not predictable. Hashes whose place another one occupies are
/// handled last: they are few, and most of them fit into the next place.
#[allow(clippy::needless_bitwise_bool)]
fn insert(places: &mut [u64], factor: u64, hashes: &[u64], list: &mut Vec<u64>) {
    let mask = places.len() - 1;
    let home = |hash: u64| (hash.wrapping_mul(factor) >> 32) as usize & mask;
    let is_new = |place: u64, hash: u64| (place == FREE) & (hash != FREE);
    let mut end = list.len();
    list.resize(end + hashes.len(), 0);
    let mut waiting = [0; PART];
    for part in hashes.chunks(PART) {
        let mut count = 0;
        for &hash in part {
            let place = &mut places[home(hash)];
            waiting[count] = hash;
            count += usize::from((*place != FREE) & (*place != hash));
            list[end] = hash;
            end += usize::from(is_new(*place, hash));
            *place = if *place == FREE { hash } else { *place };
        }
        for &hash in &waiting[..count] {
            let mut place = (home(hash) + 1) & mask;
            while (places[place] != FREE) & (places[place] != hash) {
                place = (place + 1) & mask;
            }
            list[end] = hash;
            end += usize::from(is_new(places[place], hash));
            places[place] = hash;
        }
    }
    list.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(set: &Distinct) -> Vec<u64> {
        let mut hashes = set.hashes().to_vec();
        hashes.sort_unstable();
        hashes
    }

    #[test]
    fn each_hash_once() {
        let mut set = Distinct::default();
        set.clear(7);
        set.extend(&[3, 0, 3, 1 << 40, 0, 1 << 41, 3]);
        assert_eq!(sorted(&set), [0, 3, 1 << 40, 1 << 41]);
        set.clear(0);
        assert!(set.hashes().is_empty());
        set.extend(&[0, 3, 0]);
        set.extend(&[0, 3, 0, 4]);
        assert_eq!(sorted(&set), [0, 3, 4]);
        for size in 1..200 {
            set.extend(&(0..size).collect::<Vec<_>>());
        }
        assert_eq!(sorted(&set), (0..199).collect::<Vec<_>>());
    }

    #[test]
    fn grows_without_loss() {
        let wanted: Vec<u64> = (1..100_000).map(|n| n << 30).collect();
        let mut set = Distinct::default();
        for part in wanted.chunks(1000).chain(wanted.chunks(700)) {
            set.extend(part);
        }
        assert_eq!(sorted(&set), wanted);
    }
}
