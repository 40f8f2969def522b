//! `word_pairs_v1`: the occurrences of pairs of neighbouring words, as `indexer/fingerprinting/hashing.py` defines them;
//! under a secret key `sip24_pairs_v1`.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use multiversion::multiversion;

use crate::codepoints::{CODE, UNSPACED, table};
use crate::grams::{GAMMA, mix64};
#[cfg(target_arch = "x86_64")]
use crate::letters;
#[cfg(target_arch = "x86_64")]
use crate::processor::has_all;
use crate::siphash::{Key, siphash24};

pub const BLANK: u64 = 0x20;
pub const CODE_BITS: usize = 21;
/// The first code point of a script without spaces.
pub const FIRST_UNSPACED: u64 = 0xE00;
/// Code points, and places in a word, of the letters whose hashes are computed in advance: 32 KB.
const CODES: usize = 1 << 7;
const PLACES: usize = 1 << 5;
static LETTERS: [[u64; CODES]; PLACES] = letter_hashes();
/// Features whose tables are in the cache, about.
const PART: usize = 1 << 12;
/// Marks a free place of the table.
const FREE: u64 = 0;
/// No letter at a place, and no number of an occurrence.
const NO_LETTER: u64 = u64::MAX;
/// Letters whose keyed hashes are kept: those of an alphabet below U+0080 at 32 places do not displace each other.
const KEPT: usize = 1 << 12;

/// The features of one text after the other, in the same memory.
pub struct Words {
    /// The sum of each word's letters.
    sums: Vec<u64>,
    features: Vec<u64>,
    arranged: Vec<u64>,
    /// Hashes with linear probing, at most half full, and how often those came that came again.
    places: Vec<u64>,
    counts: Vec<u64>,
    zeros: u64,
    /// Features whose place another one had.
    waiting: Vec<usize>,
    /// Features that came again, and their places.
    again: Vec<(usize, usize)>,
    factor: u64,
    /// Under a key: the number of each feature's occurrence.
    occurrences: Vec<u64>,
    letters: Letters,
}

impl Default for Words {
    fn default() -> Self {
        let factor = RandomState::new().hash_one(0) | 1;
        let (sums, features, arranged, places, counts, waiting, again, occurrences) = Default::default();
        let letters = Letters::default();
        Words { sums, features, arranged, places, counts, zeros: 0, waiting, again, factor, occurrences, letters }
    }
}

impl Words {
    /// The features of normalised code points, which are at most so many words.
    pub fn read<C: Copy + Into<u64>>(&mut self, codes: &[C], words: u64, key: Option<Key>) -> &[u64] {
        if let Some(key) = key {
            self.letters.change_key(key);
            self.add_letters::<C, true>(codes, words as usize);
            pair(&mut self.sums, &mut self.features);
            self.number_occurrences::<true>();
            seal(key, &mut self.features, &self.occurrences);
        } else {
            self.add_letters::<C, false>(codes, words as usize);
            pair(&mut self.sums, &mut self.features);
            self.number_occurrences::<false>();
        }
        &self.features
    }

    /// Add up the letters of each word.
    fn add_letters<C: Copy + Into<u64>, const KEYED: bool>(&mut self, codes: &[C], words: usize) {
        let Words { sums, letters, .. } = self;
        #[cfg(target_arch = "x86_64")]
        if !KEYED && has_all!("avx512dq", "lzcnt") {
            // SAFETY: the check above shows that the processor has these instructions.
            return unsafe { letters::add(codes, words, sums) };
        }
        add_one_by_one::<C, KEYED>(codes, words, sums, letters);
    }

    /// Turn the second and later occurrences of hashes into other features, or number them under a key.
    ///
    /// Many features are arranged in parts by their hashes, so that the tables of each part are in the cache.
    fn number_occurrences<const KEYED: bool>(&mut self) {
        self.occurrences.clear();
        self.occurrences.resize(if KEYED { self.features.len() } else { 0 }, 0);
        let mut start = 0;
        for end in self.arrange() {
            self.number_part::<KEYED>(start..end);
            start = end;
        }
    }

    /// Put equal features into the same part; where each part ends.
    fn arrange(&mut self) -> Vec<usize> {
        let Words { features, arranged, factor, .. } = self;
        let bits = (features.len() / PART).next_power_of_two().trailing_zeros();
        if bits == 0 {
            return vec![features.len()];
        }
        let part = |hash: u64| (hash.wrapping_mul(*factor) >> (u64::BITS - bits)) as usize;
        let mut ends = vec![0; 1 << bits];
        for &hash in features.iter() {
            ends[part(hash)] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            (*end, total) = (total, total + *end);
        }
        arranged.resize(features.len(), 0);
        for &hash in features.iter() {
            let end = &mut ends[part(hash)];
            arranged[*end] = hash;
            *end += 1;
        }
        features.copy_from_slice(arranged);
        ends
    }

    /// Number the occurrences of some features, among which all those equal to them are.
    ///
    /// Most hashes find their place free in one of two tables; the others are looked for.
    fn number_part<const KEYED: bool>(&mut self, part: Range<usize>) {
        self.waiting.clear();
        self.waiting.extend(part);
        let factor = self.factor;
        self.seat::<KEYED>(|hash| home(hash, factor));
        self.seat::<KEYED>(|hash| home(hash.rotate_left(32), factor));
        let size = self.clear_places();
        self.counts.resize(size.max(self.counts.len()), 0);
        self.zeros = 0;
        for &number in &self.waiting {
            let hash = self.features[number];
            let before = count_again(hash, factor, &mut self.places, &mut self.counts, &mut self.zeros);
            set_occurrence::<KEYED>(number, before, &mut self.features, &mut self.occurrences);
        }
        self.counts[..size].fill(0);
    }

    /// Seat those that wait at their places in an empty table, and number the hashes that came before. Those whose place
    /// another one has wait on, and so does zero. Nothing branches on which of them a hash is, for that is not predictable.
    #[allow(clippy::needless_bitwise_bool)]
    fn seat<const KEYED: bool>(&mut self, home: impl Fn(u64) -> usize) {
        let size = self.clear_places();
        let Words { features, places, counts, waiting, again, occurrences, .. } = self;
        again.resize(waiting.len().max(again.len()), (0, 0));
        let (mut others, mut repeats) = (0, 0);
        for next in 0..waiting.len() {
            let number = waiting[next];
            let hash = features[number];
            let place = home(hash) & (size - 1);
            let before = places[place];
            waiting[others] = number;
            others += usize::from((hash == FREE) | (before != FREE) & (before != hash));
            again[repeats] = (number, place);
            repeats += usize::from((hash != FREE) & (before == hash));
            places[place] = if before == FREE { hash } else { before };
        }
        waiting.truncate(others);
        counts.resize(size.max(counts.len()), 0);
        for &(number, place) in &again[..repeats] {
            counts[place] += 1;
            set_occurrence::<KEYED>(number, counts[place], features, occurrences);
        }
        for &(_, place) in &again[..repeats] {
            counts[place] = 0;
        }
    }

    /// Empty the table, which has twice as many places as hashes wait or more; their number.
    fn clear_places(&mut self) -> usize {
        let size = (2 * self.waiting.len()).next_power_of_two();
        self.places.clear();
        self.places.resize(size, FREE);
        size
    }
}

/// Number an occurrence of a feature that came so often before.
#[inline(always)]
fn set_occurrence<const KEYED: bool>(number: usize, before: u64, features: &mut [u64], occurrences: &mut [u64]) {
    if KEYED {
        occurrences[number] = before;
    } else if before > 0 {
        features[number] = mix64(features[number].wrapping_add(GAMMA.wrapping_mul(before)));
    }
}

/// Make a list of the sum of each word of normalised code points, which are at most so many words.
///
/// Nothing branches on where a word ends, for that is not predictable.
pub fn add_one_by_one<C: Copy + Into<u64>, const KEYED: bool>(
    codes: &[C],
    words: usize,
    sums: &mut Vec<u64>,
    letters: &mut Letters,
) {
    sums.clear();
    sums.resize(words + 1, 0);
    let (mut end, mut sum, mut length) = (0, 0_u64, 0);
    for &code in codes {
        let code = code.into();
        let alone = is_unspaced(code);
        sums[end] = sum;
        if alone {
            end += usize::from(length > 0);
            sums[end] = letters.hash::<KEYED>(code, 0);
            end += 1;
            (sum, length) = (0, 0);
            continue;
        }
        let is_blank = code == BLANK;
        let letter = letters.hash::<KEYED>(code, length);
        end += usize::from(is_blank) & usize::from(length > 0);
        sum = if is_blank { 0 } else { sum.wrapping_add(letter) };
        length = if is_blank { 0 } else { length + 1 };
    }
    if length > 0 {
        sums[end] = sum;
        end += 1;
    }
    sums.truncate(end);
}

/// How often a hash came before; one that has its place already came once at least.
#[inline(always)]
fn count_again(hash: u64, factor: u64, places: &mut [u64], counts: &mut [u64], zeros: &mut u64) -> u64 {
    if hash == FREE {
        *zeros += 1;
        return *zeros - 1;
    }
    let mask = places.len() - 1;
    let mut place = home(hash, factor) & mask;
    while places[place] != FREE && places[place] != hash {
        place = (place + 1) & mask;
    }
    let before = if places[place] == FREE { 0 } else { counts[place].max(1) };
    places[place] = hash;
    counts[place] = before + 1;
    before
}

/// The place of a hash in a table, before it is cut to the table's size.
#[inline(always)]
fn home(hash: u64, factor: u64) -> usize {
    (hash.wrapping_mul(factor) >> 32) as usize
}

/// Turn sums of letters into hashes of words, and those into hashes of neighbours.
#[cfg_attr(not(feature = "no-avx512"), multiversion(targets = "simd"))]
#[cfg_attr(feature = "no-avx512", multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt")))]
fn pair(words: &mut [u64], pairs: &mut Vec<u64>) {
    for word in words.iter_mut() {
        *word = mix64(*word);
    }
    pairs.clear();
    pairs.resize(words.len().saturating_sub(1), 0);
    for (pair, words) in pairs.iter_mut().zip(words.windows(2)) {
        *pair = mix64(mix64(words[0]) ^ words[1]);
    }
}

/// Turn pairs into features, given the numbers of their occurrences.
#[cfg_attr(not(feature = "no-avx512"), multiversion(targets = "simd"))]
#[cfg_attr(feature = "no-avx512", multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt")))]
fn seal(key: Key, features: &mut [u64], occurrences: &[u64]) {
    for (feature, &occurrence) in features.iter_mut().zip(occurrences) {
        *feature = siphash24(key, [*feature, occurrence]);
    }
}

/// Keyed hashes of letters at their places; those of the last ones are kept.
#[derive(Default)]
pub struct Letters {
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

    /// The hash of a letter at its place.
    #[inline(always)]
    fn hash<const KEYED: bool>(&mut self, code: u64, place: u64) -> u64 {
        if KEYED {
            self.keyed_hash(code, place)
        } else if code < CODES as u64 && place < PLACES as u64 {
            LETTERS[place as usize][code as usize]
        } else {
            mix64(letter(code, place))
        }
    }

    #[inline(always)]
    fn keyed_hash(&mut self, code: u64, place: u64) -> u64 {
        let letter = letter(code, place);
        let kept = &mut self.kept[(code ^ place << 7) as usize % KEPT];
        if kept.0 != letter {
            *kept = (letter, siphash24(self.key, [letter, NO_LETTER]));
        }
        kept.1
    }
}

#[inline(always)]
pub const fn letter(code: u64, place: u64) -> u64 {
    code.wrapping_add(place << CODE_BITS)
}

/// Whether a code point is a word by itself.
#[inline(always)]
pub fn is_unspaced(code: u64) -> bool {
    code >= FIRST_UNSPACED && table()[(code as u32 & CODE) as usize] & UNSPACED != 0
}

/// The hashes of letters, which the compiler computes: nothing of it is on the stack.
#[allow(clippy::large_stack_arrays)]
const fn letter_hashes() -> [[u64; CODES]; PLACES] {
    let mut hashes = [[0; CODES]; PLACES];
    let mut number = 0;
    while number < CODES * PLACES {
        let (place, code) = (number / CODES, number % CODES);
        hashes[place][code] = mix64(letter(code as u64, place as u64));
        number += 1;
    }
    hashes
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
