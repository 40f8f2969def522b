//! `word_pairs_v1`: the occurrences of pairs of neighbouring words, as `indexer/sketch/word_features.py` defines them;
//! under a secret key `sip24_pairs_v1`.

use std::hash::{BuildHasher, RandomState};

use multiversion::multiversion;

use crate::codepoints::{CODE, UNSPACED, table};
use crate::grams::{GAMMA, mix64};
use crate::siphash::{Key, siphash24};

const BLANK: u64 = 0x20;
const CODE_BITS: usize = 21;
/// The first code point of a script without spaces.
const FIRST_UNSPACED: u64 = 0xE00;
/// Marks a free place of the table.
const FREE: u64 = 0;
/// No letter at a place, and no number of an occurrence.
const NO_LETTER: u64 = u64::MAX;
/// Letters whose keyed hashes are kept: those of an alphabet below U+0080 at 32 places do not displace each other.
const KEPT: usize = 1 << 12;

/// The features of one text after the other, in the same memory.
pub struct Words {
    features: Vec<u64>,
    /// A hash and how often it came, with linear probing; at most half full.
    places: Vec<(u64, u64)>,
    zeros: u64,
    before: Option<u64>,
    factor: u64,
    /// Under a key: the number of each feature's occurrence.
    occurrences: Vec<u64>,
    letters: Letters,
}

impl Default for Words {
    fn default() -> Self {
        let factor = RandomState::new().hash_one(0) | 1;
        let (features, places, occurrences) = Default::default();
        Words { features, places, zeros: 0, before: None, factor, occurrences, letters: Letters::default() }
    }
}

impl Words {
    /// The features of normalised code points, which are so many words.
    pub fn read<C: Copy + Into<u64>>(&mut self, codes: &[C], words: u64, key: Option<Key>) -> &[u64] {
        if let Some(key) = key {
            self.letters.change_key(key);
            self.read_pairs::<C, true>(codes, words);
            seal(key, &mut self.features, &self.occurrences);
        } else {
            self.read_pairs::<C, false>(codes, words);
        }
        &self.features
    }

    fn read_pairs<C: Copy + Into<u64>, const KEYED: bool>(&mut self, codes: &[C], words: u64) {
        self.features.clear();
        self.occurrences.clear();
        self.places.clear();
        self.places.resize((2 * words as usize).next_power_of_two(), (FREE, 0));
        (self.zeros, self.before) = (0, None);
        let (mut sum, mut length) = (0_u64, 0);
        for &code in codes {
            let code = code.into();
            let alone = code >= FIRST_UNSPACED && table()[(code as u32 & CODE) as usize] & UNSPACED != 0;
            if !alone && code != BLANK {
                sum = sum.wrapping_add(self.letter::<KEYED>(code, length));
                length += 1;
                continue;
            }
            if length > 0 {
                self.add_word::<KEYED>(mix64(sum));
                (sum, length) = (0, 0);
            }
            if alone {
                let letter = self.letter::<KEYED>(code, 0);
                self.add_word::<KEYED>(mix64(letter));
            }
        }
        if length > 0 {
            self.add_word::<KEYED>(mix64(sum));
        }
    }

    /// The hash of a letter at its place.
    #[inline(always)]
    fn letter<const KEYED: bool>(&mut self, code: u64, place: u64) -> u64 {
        if KEYED { self.letters.hash(code, place) } else { mix64(letter(code, place)) }
    }

    /// Add the pair of the word before and this one.
    #[inline(always)]
    fn add_word<const KEYED: bool>(&mut self, word: u64) {
        if let Some(before) = self.before.replace(word) {
            self.add::<KEYED>(mix64(mix64(before) ^ word));
        }
    }

    /// Add a hash with the number of its occurrence.
    #[inline(always)]
    fn add<const KEYED: bool>(&mut self, hash: u64) {
        let before = self.count(hash);
        if KEYED {
            self.occurrences.push(before);
        }
        let feature = if KEYED || before == 0 { hash } else { mix64(hash.wrapping_add(GAMMA.wrapping_mul(before))) };
        self.features.push(feature);
    }

    /// How often the hash came before.
    #[inline(always)]
    fn count(&mut self, hash: u64) -> u64 {
        if hash == FREE {
            self.zeros += 1;
            return self.zeros - 1;
        }
        let mask = self.places.len() - 1;
        let mut place = (hash.wrapping_mul(self.factor) >> 32) as usize & mask;
        while self.places[place].0 != FREE && self.places[place].0 != hash {
            place = (place + 1) & mask;
        }
        let (known, count) = &mut self.places[place];
        *known = hash;
        *count += 1;
        *count - 1
    }
}

/// Turn pairs into features, given the numbers of their occurrences.
#[multiversion(targets = "simd")]
fn seal(key: Key, features: &mut [u64], occurrences: &[u64]) {
    for (feature, &occurrence) in features.iter_mut().zip(occurrences) {
        *feature = siphash24(key, [*feature, occurrence]);
    }
}

/// Keyed hashes of letters at their places; those of the last ones are kept.
#[derive(Default)]
struct Letters {
    key: Key,
    /// A letter at its place, and its hash.
    kept: Vec<(u64, u64)>,
}

impl Letters {
    fn change_key(&mut self, key: Key) {
        if self.kept.is_empty() || self.key != key {
            self.key = key;
            self.kept.clear();
            self.kept.resize(KEPT, (NO_LETTER, 0));
        }
    }

    #[inline(always)]
    fn hash(&mut self, code: u64, place: u64) -> u64 {
        let letter = letter(code, place);
        let kept = &mut self.kept[(code ^ place << 7) as usize % KEPT];
        if kept.0 != letter {
            *kept = (letter, siphash24(self.key, [letter, NO_LETTER]));
        }
        kept.1
    }
}

#[inline(always)]
fn letter(code: u64, place: u64) -> u64 {
    code.wrapping_add(place << CODE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(text: &str) -> Vec<u64> {
        let codes: Vec<u32> = text.chars().map(u32::from).collect();
        Words::default().read(&codes, codes.len() as u64, None).to_vec()
    }

    #[test]
    fn occurrences_differ() {
        let pairs = features("to be or to be");
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairs[..3], features("to be or to"));
        assert_eq!(pairs[3], mix64(pairs[0].wrapping_add(GAMMA)));
    }

    #[test]
    fn each_character_is_a_word_in_scripts_without_spaces() {
        assert_eq!(features("近似x重").len(), 3);
        assert_eq!(features("xy").len(), 0);
    }

    #[test]
    fn many_words() {
        let words: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
        let mut all = features(&[words.join(" "), words.join(" ")].join(" "));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 9_999);
    }
}
