//! One word for every code point: its lower-case code point in the low 21 bits, its classes above.

use std::iter::once;
use std::sync::OnceLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfkc_quick};

use crate::unicode13;

pub const END: usize = 0x0011_0000;
pub const CODE: u32 = (1 << 21) - 1;
pub const UNASSIGNED: u32 = 1 << 21;
pub const NONSTARTER: u32 = 1 << 22;
pub const IGNORABLE: u32 = 1 << 23;
pub const BLANK: u32 = 1 << 24;
pub const WORDLESS: u32 = 1 << 25;
pub const UNSPACED: u32 = 1 << 26;
/// NFKC may change it, compose it with what stands before it, or reorder it.
pub const UNSTABLE: u32 = 1 << 27;
/// Goes at the end of a line.
pub const HYPHEN: u32 = 1 << 28;
/// Stands between the words of `default_v2`.
pub const SEPARATOR: u32 = 1 << 29;

const CLASSES: [(u32, &[(u32, u32)]); 8] = [
    (UNASSIGNED, unicode13::UNASSIGNED),
    (NONSTARTER, unicode13::NONSTARTER),
    (IGNORABLE, unicode13::IGNORABLE),
    (BLANK, unicode13::BLANK),
    (WORDLESS, unicode13::WORDLESS),
    (UNSPACED, unicode13::UNSPACED),
    (SEPARATOR, unicode13::SEPARATOR),
    (HYPHEN, &[(0x2D, 0x2D), (0x2010, 0x2010)]),
];

pub type Table = [u32; END];

/// The word of every code point, made on first use.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Box<Table>> = OnceLock::new();
    TABLE.get_or_init(build)
}

fn build() -> Box<Table> {
    let mut words: Vec<u32> = (0..END as u32).collect();
    for &(first, last, step, delta) in unicode13::LOWER {
        for code in (first..=last).step_by(step as usize) {
            words[code as usize] = code.wrapping_add_signed(delta);
        }
    }
    for (bit, ranges) in CLASSES {
        for &(first, last) in ranges {
            words[first as usize..=last as usize].iter_mut().for_each(|word| *word |= bit);
        }
    }
    for (code, word) in (0..).zip(&mut words) {
        if *word & UNASSIGNED == 0 && char::from_u32(code).is_some_and(is_unstable) {
            *word |= UNSTABLE;
        }
    }
    words.try_into().expect("the vector has a word for every code point")
}

fn is_unstable(c: char) -> bool {
    canonical_combining_class(c) != 0 || is_nfkc_quick(once(c)) != IsNormalized::Yes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_stable_and_assigned() {
        assert!(table()[..128].iter().all(|word| word & (UNSTABLE | UNASSIGNED | IGNORABLE) == 0));
    }

    #[test]
    fn nonstarters_are_unstable() {
        assert!(table().iter().all(|word| word & NONSTARTER == 0 || word & UNSTABLE != 0));
    }

    #[test]
    fn lower_case_keeps_what_the_output_asks_about() {
        let table = table();
        for (code, word) in table.iter().enumerate() {
            let lower = table[(word & CODE) as usize];
            let stays = lower & (BLANK | WORDLESS) == word & (BLANK | WORDLESS);
            assert!(stays || word & UNSTABLE != 0, "{code:x} changes its class");
        }
    }

    #[test]
    fn lower_case_is_a_character() {
        assert!(
            table()
                .iter()
                .enumerate()
                .all(|(code, word)| { (0xD800..0xE000).contains(&code) || char::from_u32(word & CODE).is_some() })
        );
    }
}
