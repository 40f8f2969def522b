//! From texts to fingerprints: the steps in their order, on as many threads as wanted.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::thread;

use sha2::{Digest, Sha256};

use crate::distinct::Distinct;
use crate::grams::gram_hashes;
use crate::normalise::Normalised;
use crate::{keys, minhash, simhash};

/// The settings of a recipe that change a fingerprint. No slots: no MinHash; no `simhash`: none of that.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub width: usize,
    pub slots: usize,
    pub bands: usize,
    pub rows: usize,
    pub simhash: bool,
    pub blocks: usize,
    pub min_features: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    Complete,
    #[default]
    Empty,
    NumbersOnly,
    TooShort,
}

/// The fingerprint of one text; sketches and keys only when it is complete.
#[derive(Default)]
pub struct Fingerprint {
    pub status: Status,
    pub minhash: Vec<u32>,
    pub simhash: u64,
    pub bands: Vec<String>,
    pub blocks: Vec<String>,
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

/// Signs one text after the other in the same memory.
#[derive(Default)]
pub struct Signer {
    normalised: Normalised,
    hashes: Vec<u64>,
    distinct: Distinct,
}

impl Signer {
    /// Fingerprint one text.
    pub fn sign(&mut self, text: &str, recipe: &Recipe) -> Fingerprint {
        self.normalised.read(text);
        let status = self.find_features(recipe);
        let mut signed = Fingerprint {
            status,
            exact: Sha256::digest(&self.normalised.text).into(),
            words: self.normalised.words,
            chars: self.normalised.chars() as u64,
            ..Fingerprint::default()
        };
        if status == Status::Complete {
            self.sketch(recipe, &mut signed);
        }
        signed
    }

    fn find_features(&mut self, recipe: &Recipe) -> Status {
        let text = &self.normalised;
        if text.text.is_empty() {
            return Status::Empty;
        }
        if !text.letters {
            return Status::NumbersOnly;
        }
        if text.codes.is_empty() {
            gram_hashes(&text.text, recipe.width, &mut self.hashes);
        } else {
            gram_hashes(&text.codes, recipe.width, &mut self.hashes);
        }
        self.distinct.clear();
        self.distinct.extend(&self.hashes);
        let few = self.distinct.hashes().len() < recipe.min_features.max(1);
        if few { Status::TooShort } else { Status::Complete }
    }

    fn sketch(&self, recipe: &Recipe, signed: &mut Fingerprint) {
        let features = self.distinct.hashes();
        if recipe.slots > 0 {
            signed.minhash = minhash::sketch(features, recipe.slots);
            signed.bands = keys::band_keys(&signed.minhash, recipe.bands, recipe.rows);
        }
        if recipe.simhash {
            signed.simhash = simhash::simhash(features);
            signed.blocks = keys::block_keys(signed.simhash, recipe.blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe {
        width: 4,
        slots: 128,
        bands: 21,
        rows: 6,
        simhash: true,
        blocks: 4,
        min_features: 8,
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
        let texts: Vec<Cow<str>> = (0..50)
            .map(|n| format!("text number {n} of many, é").repeat(n).into())
            .collect();
        let one = sign_all(&texts, &RECIPE, 1);
        let four = sign_all(&texts, &RECIPE, 4);
        assert!(
            one.iter()
                .zip(&four)
                .all(|(a, b)| a.bands == b.bands && a.exact == b.exact)
        );
    }
}
