//! Whatever a text holds and whatever a recipe asks for, signing ends, within memory, and alike on any number of threads.

#![no_main]

use std::borrow::Cow;

use _kernel::normalise::Version;
use _kernel::signer::{Recipe, sign_all};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    texts: Vec<&'a str>,
    second: bool,
    words: bool,
    packed: bool,
    width: u8,
    slots: u16,
    rows: u8,
    simhash: bool,
    blocks: u8,
    min_features: u8,
    key: Option<[u64; 2]>,
    symbols: bool,
}

impl Input<'_> {
    fn recipe(&self) -> Recipe {
        let (slots, rows) = (usize::from(self.slots % 300), 1 + usize::from(self.rows % 8));
        Recipe {
            normaliser: if self.second { Version::V2 } else { Version::V1 },
            words: self.words,
            packed: self.packed,
            digits: 7,
            width: 1 + usize::from(self.width % 6),
            slots,
            bands: slots / rows,
            rows,
            simhash: self.simhash,
            blocks: 1 + usize::from(self.blocks % 64),
            min_features: usize::from(self.min_features),
            key: self.key,
            symbols: self.second && self.symbols,
        }
    }
}

fuzz_target!(|input: Input| {
    let texts: Vec<Cow<str>> = input.texts.iter().map(|text| Cow::Borrowed(*text)).collect();
    let recipe = input.recipe();
    let (alone, together) = (sign_all(&texts, &recipe, 1), sign_all(&texts, &recipe, 3));
    assert_eq!(alone.len(), texts.len());
    for (one, other) in alone.iter().zip(&together) {
        assert_eq!((&one.minhash, one.simhash, one.exact), (&other.minhash, other.simhash, other.exact));
        assert!(one.bands.is_empty() || one.bands.split(' ').count() == recipe.bands);
    }
});
