//! Whatever a text holds and whatever a recipe asks for, signing ends, and says the same on any number of threads.
//!
//! `NEARFOLD_FUZZ=20000 cargo test --release` tries that many instead of the few of every run.

use std::borrow::Cow;

use _kernel::normalise::Version;
use _kernel::signer::{Recipe, sign_all};

const ROUNDS: u64 = 300;

/// SplitMix64: numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> usize {
        (self.next() % end) as usize
    }

    /// Letters, marks, separators, Hangul and any code point, in runs.
    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(60) {
            let (first, count) =
                [(0x61, 26), (0x300, 112), (0x20, 16), (0x1100, 256), (0x2000, 112), (0, 0x11_0000)][self.below(6)];
            let code = char::from_u32(first + self.below(count) as u32).unwrap_or('\u{FFFD}');
            (0..=self.below(40)).for_each(|_| text.push(code));
        }
        text
    }

    fn recipe(&mut self) -> Recipe {
        let slots = self.below(300);
        let rows = 1 + self.below(8);
        let normaliser = [Version::V1, Version::V2][self.below(2)];
        Recipe {
            normaliser,
            words: self.below(2) == 0,
            packed: self.below(2) == 0,
            digits: self.below(13),
            width: 1 + self.below(6),
            slots,
            bands: slots / rows,
            rows,
            simhash: self.below(2) == 0,
            blocks: 1 + self.below(64),
            min_features: self.below(20),
            key: (self.below(2) == 0).then(|| [self.next(), self.next()]),
            symbols: normaliser == Version::V2 && self.below(2) == 0,
        }
    }
}

#[test]
fn any_text_by_any_recipe() {
    let asked = std::env::var("NEARFOLD_FUZZ").ok().and_then(|rounds| rounds.parse().ok());
    let mut numbers = Numbers(20);
    for _ in 0..asked.unwrap_or(ROUNDS) {
        let texts: Vec<String> = (0..numbers.below(4)).map(|_| numbers.text()).collect();
        let texts: Vec<Cow<str>> = texts.iter().map(Into::into).collect();
        let recipe = numbers.recipe();
        let (alone, together) = (sign_all(&texts, &recipe, 1), sign_all(&texts, &recipe, 3));
        assert_eq!(alone.len(), texts.len());
        for (one, other) in alone.iter().zip(&together) {
            assert_eq!(
                (one.status, &one.minhash, one.simhash, one.exact),
                (other.status, &other.minhash, other.simhash, other.exact)
            );
            assert!(one.bands.split_ascii_whitespace().count() == recipe.bands || one.bands.is_empty());
        }
    }
}
