//! From texts to fingerprints: the steps in their order, on as many threads as wanted.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::thread;

use sha2::{Digest, Sha256};

use crate::distinct::Distinct;
use crate::grams::each_chunk;
use crate::minhash::Sketch;
use crate::normalise::{Normalised, Version};
use crate::siphash;
use crate::words::Words;
use crate::{keys, simhash};

/// The settings of a recipe that change a fingerprint. No slots: no MinHash; no `simhash`: none of that.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)]
pub struct Recipe {
    pub normaliser: Version,
    /// The features are occurrences of word pairs rather than runs of `width` characters.
    pub words: bool,
    pub width: usize,
    pub slots: usize,
    /// Only the low byte of each slot is kept.
    pub packed: bool,
    pub bands: usize,
    pub rows: usize,
    /// The base-32 digits of a band's key; 0 for a long key.
    pub digits: usize,
    pub simhash: bool,
    pub blocks: usize,
    pub min_features: usize,
    pub key: Option<siphash::Key>,
    /// The digest of a text reads its symbols of value, too.
    pub symbols: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    Complete,
    #[default]
    Empty,
    NumbersOnly,
    TooShort,
}

/// The fingerprint of one text; sketches and keys only when it is complete, or numbers only and the features are of words.
#[derive(Default)]
pub struct Fingerprint {
    pub status: Status,
    /// Slots in native byte order, of one byte each when packed, else of four.
    pub minhash: Vec<u8>,
    pub simhash: u64,
    /// Keys, with blanks between them.
    pub bands: String,
    pub blocks: String,
    pub exact: [u8; 32],
    pub words: u64,
    pub chars: u64,
}

/// Fingerprint texts, in order.
pub fn sign_all(texts: &[Cow<str>], recipe: &Recipe, threads: usize) -> Vec<Fingerprint> {
    let mut rows: Vec<Fingerprint> = texts.iter().map(|_| Fingerprint::default()).collect();
    let jobs = Mutex::new(texts.iter().zip(&mut rows));
    let work = || {
        let mut signer = Signer::default();
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((text, row)) = job else { break };
            *row = signer.sign(text, recipe);
        }
    };
    thread::scope(|scope| {
        (1..threads.min(texts.len())).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    rows
}

/// Symbols one text after the other in the same memory.
#[derive(Default)]
pub struct Signer {
    normalised: Normalised,
    distinct: Distinct,
    words: Words,
}

impl Recipe {
    /// The bytes of a sketch.
    pub fn size(&self) -> usize {
        if self.packed { self.slots } else { 4 * self.slots }
    }
}

impl Signer {
    /// Fingerprint one text.
    pub fn sign(&mut self, text: &str, recipe: &Recipe) -> Fingerprint {
        self.normalised.symbols.wanted = recipe.symbols;
        self.normalised.read(text, recipe.normaliser);
        let mut signed = Fingerprint {
            exact: self.digest(),
            words: self.normalised.words,
            chars: self.normalised.chars() as u64,
            ..Fingerprint::default()
        };
        signed.status = if self.normalised.text.is_empty() {
            Status::Empty
        } else if self.normalised.letters {
            self.sketch(recipe, &mut signed)
        } else {
            if recipe.words {
                self.sketch(recipe, &mut signed);
            }
            Status::NumbersOnly
        };
        signed
    }

    /// SHA-256 of the normalised text, and of its symbols, if they are asked for, after a line feed.
    fn digest(&self) -> [u8; 32] {
        let Normalised { text, symbols, .. } = &self.normalised;
        let mut digest = Sha256::new_with_prefix(text);
        if !text.is_empty() && !symbols.text.is_empty() {
            digest.update(b"\n");
            digest.update(&symbols.text);
        }
        digest.finalize().into()
    }

    /// Add sketches and keys, unless there are too few features.
    fn sketch(&mut self, recipe: &Recipe, signed: &mut Fingerprint) -> Status {
        let Some((mut slots, bits)) = self.sketches(recipe) else {
            return Status::TooShort;
        };
        if recipe.packed {
            for slot in &mut slots {
                *slot &= 0xFF;
            }
        }
        if recipe.simhash {
            signed.simhash = bits;
            signed.blocks = keys::blocks(signed.simhash, recipe.blocks);
        }
        signed.bands = keys::bands(&slots, recipe.bands, recipe.rows, recipe.digits);
        signed.minhash = if recipe.packed {
            slots.iter().map(|&slot| slot as u8).collect()
        } else {
            slots.iter().flat_map(|slot| slot.to_ne_bytes()).collect()
        };
        Status::Complete
    }

    /// The slots and the SimHash; nothing if there are too few features.
    fn sketches(&mut self, recipe: &Recipe) -> Option<(Vec<u32>, u64)> {
        // The words are counted in the text itself by version 2 alone.
        if !recipe.words || recipe.normaliser == Version::V1 {
            return self.first_round_alone(recipe).or_else(|| self.all_rounds(recipe));
        }
        let Normalised { text, codes, words, .. } = &self.normalised;
        let features = if codes.is_empty() {
            self.words.read(text, *words, recipe.key)
        } else {
            self.words.read(codes, *words, recipe.key)
        };
        sketch(features, recipe)
    }

    /// The slots, if nobody asks for the distinct features, and the first round fills every slot: then there are at least
    /// as many distinct features as slots, and repeats did no harm.
    fn first_round_alone(&mut self, recipe: &Recipe) -> Option<(Vec<u32>, u64)> {
        if recipe.simhash || recipe.slots == 0 || recipe.slots < recipe.min_features {
            return None;
        }
        let mut sketch = Sketch::new(recipe.slots);
        self.each_chunk(recipe, |_, hashes| sketch.first_round(hashes));
        sketch.is_full().then(|| (sketch.slots(), 0))
    }

    /// The same, after finding the distinct features; nothing if there are too few of them.
    fn all_rounds(&mut self, recipe: &Recipe) -> Option<(Vec<u32>, u64)> {
        self.distinct.clear(self.normalised.chars());
        self.each_chunk(recipe, Distinct::extend);
        sketch(self.distinct.hashes(), recipe)
    }

    fn each_chunk(&mut self, recipe: &Recipe, mut take: impl FnMut(&mut Distinct, &[u64])) {
        let Normalised { text, codes, .. } = &self.normalised;
        if codes.is_empty() {
            each_chunk(text, recipe.width, recipe.key, |hashes| take(&mut self.distinct, hashes));
        } else {
            each_chunk(codes, recipe.width, recipe.key, |hashes| take(&mut self.distinct, hashes));
        }
    }
}

/// The slots and the SimHash of a set of features; nothing if there are too few of them.
fn sketch(features: &[u64], recipe: &Recipe) -> Option<(Vec<u32>, u64)> {
    if features.len() < recipe.min_features.max(1) {
        return None;
    }
    let mut sketch = Sketch::new(recipe.slots);
    if recipe.slots > 0 {
        sketch.first_round(features);
        sketch.other_rounds(features);
    }
    let bits = if recipe.simhash { simhash::simhash(features) } else { 0 };
    Some((sketch.slots(), bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe {
        normaliser: Version::V1,
        words: false,
        width: 4,
        slots: 128,
        packed: false,
        bands: 21,
        rows: 6,
        digits: 0,
        simhash: true,
        blocks: 4,
        min_features: 8,
        key: None,
        symbols: false,
    };

    fn status(text: &str) -> Status {
        Signer::default().sign(text, &RECIPE).status
    }

    #[test]
    fn every_status() {
        assert_eq!(status(" \u{200b}\n"), Status::Empty);
        assert_eq!(status("12 345.67 - 8910"), Status::NumbersOnly);
        assert_eq!(status("nearfold"), Status::TooShort);
        assert_eq!(status("nearfold folds near duplicates"), Status::Complete);
    }

    #[test]
    fn threads_change_nothing() {
        let texts: Vec<Cow<str>> = (0..50).map(|n| format!("text number {n} of many, é").repeat(n).into()).collect();
        let one = sign_all(&texts, &RECIPE, 1);
        let four = sign_all(&texts, &RECIPE, 4);
        assert!(one.iter().zip(&four).all(|(a, b)| a.bands == b.bands && a.exact == b.exact));
    }
}
