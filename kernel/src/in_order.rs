//! Words in order: the longest common subsequence (LCS) of the words of two texts (`indexer/comparing/alignment.py`).

use std::collections::HashMap;

/// Pairs of words beyond which a pair is not compared here: the table of matches would take over 8 MB.
const MOST_CELLS: usize = 1 << 26;
const BITS: usize = 64;

/// What two texts have in common, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InCommon {
    /// The length of the LCS; 0 when it is below the least.
    pub in_order: u32,
    /// The words that both have, each counted as often as both have it.
    pub shared: u32,
    /// The words of either text.
    pub words: (u32, u32),
    /// How much oftener a word comes in the first text than in the other, at most.
    pub excess: u32,
}

/// The words of a text, to be compared with those of others.
pub struct Words<'a> {
    numbers: HashMap<&'a str, u32>,
    /// The numbers of the words in order.
    text: Vec<u32>,
    /// How often each number comes.
    counts: Vec<u32>,
}

impl<'a> Words<'a> {
    /// Read words with blanks between them.
    pub fn new(spaced: &'a str) -> Self {
        let mut words = Words { numbers: HashMap::new(), text: Vec::new(), counts: Vec::new() };
        for word in split(spaced) {
            let next = words.counts.len() as u32;
            let number = *words.numbers.entry(word).or_insert(next);
            if number == next {
                words.counts.push(0);
            }
            words.counts[number as usize] += 1;
            words.text.push(number);
        }
        words
    }

    /// Compare with another text; nothing if there are too many words.
    ///
    /// `least`: the share of the words of the longer text below which the LCS need not be known.
    pub fn in_common(&self, spaced: &str, least: f64) -> Option<InCommon> {
        let (mut right, mut length) = (Vec::new(), 0_u32);
        let mut left_over = self.counts.clone();
        let mut shared = 0;
        for word in split(spaced) {
            length += 1;
            if let Some(&number) = self.numbers.get(word) {
                right.push(number);
                let count = &mut left_over[number as usize];
                shared += u32::from(*count > 0);
                *count = count.saturating_sub(1);
            }
        }
        let own = self.text.len() as u32;
        let needed = (least * f64::from(own.max(length)) - 1e-9).ceil().max(1.0);
        let excess = left_over.iter().copied().max().unwrap_or(0);
        let mut common = InCommon { in_order: 0, shared, words: (own, length), excess };
        if f64::from(shared) >= needed {
            if self.text.len().saturating_mul(right.len()) > MOST_CELLS {
                return None;
            }
            let in_order = lcs(&self.text, &right, self.counts.len());
            if f64::from(in_order) >= needed {
                common.in_order = in_order;
            }
        }
        Some(common)
    }
}

/// The numbers of the words of many texts, in the order in which they come first.
#[derive(Default)]
pub struct Numbers {
    of_words: HashMap<Box<str>, u32>,
}

impl Numbers {
    /// Append the number of each word; those that are new are returned.
    pub fn add<'a>(&mut self, words: impl Iterator<Item = &'a str>, numbers: &mut Vec<u32>) -> Vec<&'a str> {
        let mut new = Vec::new();
        for word in words {
            let next = self.of_words.len() as u32;
            numbers.push(self.of_words.get(word).copied().unwrap_or_else(|| {
                self.of_words.insert(word.into(), next);
                new.push(word);
                next
            }));
        }
        new
    }
}

pub fn split(spaced: &str) -> impl Iterator<Item = &str> {
    spaced.split(' ').filter(|word| !word.is_empty())
}

/// The length of the LCS of numbers below `kinds`, by the bit-parallel algorithm of Hyyrö ("Bit-parallel LCS-length
/// computation revisited", AWOCA 2004).
fn lcs(left: &[u32], right: &[u32], kinds: usize) -> u32 {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[start..], &right[start..]);
    let end = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    let blocks = left.len().div_ceil(BITS);
    let mut matches = vec![0_u64; kinds * blocks];
    for (place, &number) in left.iter().enumerate() {
        matches[number as usize * blocks + place / BITS] |= 1 << (place % BITS);
    }
    let mut row = vec![u64::MAX; blocks];
    for &number in right {
        let mut carry = false;
        for (bits, matching) in row.iter_mut().zip(&matches[number as usize * blocks..]) {
            let both = *bits & matching;
            let (sum, over) = bits.overflowing_add(both);
            let (sum, again) = sum.overflowing_add(carry.into());
            carry = over || again;
            *bits = sum | (*bits & !both);
        }
    }
    let zeros: u32 = row.iter().map(|bits| bits.count_zeros()).sum();
    (start + end) as u32 + zeros
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grams::mix64;

    /// The definition (Wagner & Fischer, JACM 1974).
    fn by_table(a: &[u32], b: &[u32]) -> u32 {
        let mut above = vec![0; b.len() + 1];
        for x in a {
            let mut row = vec![0];
            for (place, y) in b.iter().enumerate() {
                row.push(if x == y { above[place] + 1 } else { row[place].max(above[place + 1]) });
            }
            above = row;
        }
        above[b.len()]
    }

    #[test]
    fn lengths_are_those_of_the_definition() {
        for (number, length) in [0_u64, 1, 5, 63, 64, 65, 130, 400].into_iter().enumerate() {
            for kinds in [1, 2, 7, 60] {
                let text = |seed: u64, length: u64| -> Vec<u32> {
                    (0..length).map(|place| (mix64(seed * 4096 + place) % kinds) as u32).collect()
                };
                let (a, b) = (text(number as u64, length), text(90, 131));
                assert_eq!(lcs(&a, &b, kinds as usize), by_table(&a, &b), "{length} words of {kinds}");
                assert_eq!(lcs(&b, &a, kinds as usize), by_table(&a, &b), "{length} words of {kinds}");
            }
        }
    }

    #[test]
    fn words_are_numbered_as_they_come() {
        let (mut numbers, mut list) = (Numbers::default(), Vec::new());
        assert_eq!(numbers.add(split("to be or  not to be"), &mut list), ["to", "be", "or", "not"]);
        assert_eq!(numbers.add(["", "not"].into_iter(), &mut list), [""]);
        assert_eq!(list, [0, 1, 2, 3, 0, 1, 4, 3]);
    }

    #[test]
    fn counts_of_words() {
        let words = Words::new("to be or not to be");
        let other = " not  to be or to  be";
        let counts = |in_order, shared, words, excess| Some(InCommon { in_order, shared, words, excess });
        assert_eq!(words.in_common(other, 0.8), counts(5, 6, (6, 6), 0));
        assert_eq!(words.in_common(other, 0.9), counts(0, 6, (6, 6), 0));
        assert_eq!(words.in_common("", 0.0), counts(0, 0, (6, 0), 2));
        assert_eq!(Words::new("").in_common(other, 0.0), counts(0, 0, (0, 6), 0));
        let long = "a ".repeat(10_000);
        assert_eq!(Words::new(&long).in_common(&long, 0.5), None);
    }
}
