//! Normalisation `default_v1` and `default_v2`, as `indexer/fingerprinting/normalise.py` defines them, in one pass
//! over the text.

use std::mem::take;

use unicode_normalization::UnicodeNormalization;

use crate::ascii;
use crate::codepoints::{
    BLANK, CODE, HYPHEN, IGNORABLE, NONSTARTER, Table, UNASSIGNED, UNSPACED, UNSTABLE, WORDLESS, table,
};
use crate::separate::{self, LineEnd, Separator};
use crate::symbols::Symbols;

const MAX_NONSTARTERS: u32 = 30;
/// Runs of ASCII of at least this length are read as such within other text.
const LONG: usize = 8;

/// The version of the normaliser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    #[default]
    V1,
    V2,
}

/// A normalised text and what was counted on the way.
#[derive(Default)]
pub struct Normalised {
    /// UTF-8.
    pub text: Vec<u8>,
    /// Its code points; empty when the text is ASCII, where they are the bytes.
    pub codes: Vec<u32>,
    /// Words: by `default_v1` of the original text, by `default_v2` of the normalised one.
    pub words: u64,
    /// There is more than numbers, punctuation and symbols.
    pub letters: bool,
    /// Symbols of value of a text that is read by `default_v2`, if they are asked for.
    pub symbols: Symbols,
}

impl Normalised {
    /// Replace what this holds by the normalised `text`; its memory is used again.
    pub fn read(&mut self, text: &str, version: Version) {
        self.text.clear();
        self.codes.clear();
        self.words = 0;
        self.letters = false;
        self.symbols.clear();
        match (version, text.is_ascii()) {
            (Version::V1, true) => {
                ascii::read(text.as_bytes(), false, self, |place| ends_line(&text[place + 1..]));
            }
            (Version::V1, false) => Pass::<false>::new(self).read(text),
            (Version::V2, true) => separate::read_ascii(text.as_bytes(), self),
            (Version::V2, false) => Pass::<true>::new(self).read_separated(text),
        }
    }

    /// The words that measures compare (`indexer/comparing/words.py`), with blanks between them.
    ///
    /// In scripts without spaces each code point is one.
    pub fn spaced(&self) -> String {
        let text = String::from_utf8_lossy(&self.text);
        if self.codes.is_empty() {
            return text.into_owned();
        }
        let mut spaced = String::with_capacity(text.len() + text.len() / 2);
        for c in text.chars() {
            if table()[c as usize] & UNSPACED != 0 {
                spaced.extend([' ', c, ' ']);
            } else {
                spaced.push(c);
            }
        }
        spaced
    }

    /// The number of code points.
    pub fn chars(&self) -> usize {
        if self.codes.is_empty() { self.text.len() } else { self.codes.len() }
    }
}

/// Returns true if only blanks, tabs and ignorable characters come before the next end of a line.
fn ends_line(next: &str) -> bool {
    let passed = |&c: &char| matches!(c, ' ' | '\t') || (!c.is_ascii() && table()[c as usize] & IGNORABLE != 0);
    matches!(next.chars().find(|c| !passed(c)), Some('\n' | '\r'))
}

/// The state of the pass over a text that is not ASCII.
///
/// `SEPARATED`: by `default_v2`.
struct Pass<'a, const SEPARATED: bool> {
    table: &'static Table,
    out: &'a mut Normalised,
    /// The last stable character, which what comes next may still change.
    held: Option<char>,
    /// The unstable characters after it.
    tail: String,
    marks: u32,
    inside: bool,
    separator: Separator,
}

impl<'a, const SEPARATED: bool> Pass<'a, SEPARATED> {
    fn new(out: &'a mut Normalised) -> Self {
        let separator = Separator::default();
        Pass { table: table(), out, held: None, tail: String::new(), marks: 0, inside: false, separator }
    }

    /// Read a text by `default_v2`.
    fn read_separated(mut self, text: &str) {
        let mut line_end = LineEnd::default();
        let mut rest = text;
        // what is left of the text after the last run of ASCII that was looked at
        let mut left = text.len();
        while let Some(c) = rest.chars().next() {
            if c.is_ascii() && line_end == LineEnd::None && rest.len() <= left {
                let whole = ascii_run(rest.as_bytes());
                left = rest.len() - whole;
                let run = separate::settled(&rest.as_bytes()[..whole]);
                if run.len() >= LONG {
                    self.finish_piece();
                    self.marks = 0;
                    self.separator.append_ascii(run, self.out);
                    rest = &rest[run.len()..];
                    continue;
                }
            }
            rest = &rest[c.len_utf8()..];
            let word = self.table[c as usize];
            if word & IGNORABLE != 0 || line_end.passes(c) {
                continue;
            }
            if word & HYPHEN != 0 && ends_line(rest) {
                line_end.start();
            } else {
                self.take(c, word);
            }
        }
        self.finish_piece();
    }

    fn read(mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let run = ascii_run(rest.as_bytes());
            let plain = if run < LONG { 0 } else { run - 1 };
            self.read_ascii(plain, rest);
            let other = rest.as_bytes()[run..].iter().take_while(|byte| !byte.is_ascii()).count();
            for (place, c) in rest[plain..run + other].char_indices() {
                self.read_char(c, || &rest[plain + place + c.len_utf8()..]);
            }
            rest = &rest[run + other..];
        }
        self.finish_piece();
    }

    /// Read the first `len` bytes of the rest, all of them ASCII; the character after them must not change the last.
    fn read_ascii(&mut self, len: usize, rest: &str) {
        if len == 0 {
            return;
        }
        self.finish_piece();
        self.marks = 0;
        let start = self.out.text.len();
        let goes = |place: usize| ends_line(&rest[place + 1..]);
        self.inside = ascii::read(&rest.as_bytes()[..len], self.inside, self.out, goes);
        self.out.codes.extend(self.out.text[start..].iter().map(|&byte| u32::from(byte)));
    }

    #[inline(always)]
    fn read_char<'t>(&mut self, c: char, next: impl FnOnce() -> &'t str) {
        let word = self.table[c as usize];
        if word & IGNORABLE != 0 {
            return;
        }
        self.count(word);
        if word & HYPHEN == 0 || !ends_line(next()) {
            self.take(c, word);
        }
    }

    /// Count a word where one starts.
    fn count(&mut self, word: u32) {
        let unspaced = word & UNSPACED != 0;
        let visible = word & BLANK == 0;
        self.out.words += u64::from(unspaced || (visible && !self.inside));
        self.inside = visible && !unspaced;
    }

    /// Put one character after those before it, unless a barrier stands between.
    #[inline(always)]
    fn take(&mut self, c: char, word: u32) {
        if word & UNSTABLE == 0 {
            self.finish_piece();
            self.marks = 0;
            if word & UNASSIGNED == 0 {
                self.held = Some(c);
            } else {
                self.emit(word);
            }
        } else {
            self.take_unstable(c, word);
        }
    }

    fn take_unstable(&mut self, c: char, word: u32) {
        self.tail.push(c);
        self.marks = if word & NONSTARTER == 0 { 0 } else { self.marks + 1 };
        if self.marks == MAX_NONSTARTERS {
            self.finish_piece();
            self.marks = 0;
        }
    }

    /// Compose and emit what is held.
    #[inline(always)]
    fn finish_piece(&mut self) {
        if !self.tail.is_empty() {
            self.compose();
        } else if let Some(c) = self.held.take() {
            self.emit(self.table[c as usize]);
        }
    }

    fn compose(&mut self) {
        let (held, tail) = (self.held.take(), take(&mut self.tail));
        held.into_iter().chain(tail.chars()).nfkc().for_each(|c| self.emit(self.table[c as usize]));
        self.tail = tail;
        self.tail.clear();
    }

    /// Append the lower case of a character that is neither white space nor a control, or of one that does not separate.
    #[inline(always)]
    fn emit(&mut self, word: u32) {
        if SEPARATED {
            self.separator.append(word & CODE, self.table, self.out);
        } else if word & BLANK == 0 {
            let c = char::from_u32(word & CODE).unwrap_or(char::REPLACEMENT_CHARACTER);
            self.out.codes.push(c.into());
            push(c, &mut self.out.text);
            self.out.letters |= word & WORDLESS == 0;
        }
    }
}

/// Append one character in UTF-8, without a call to copy a few bytes.
#[inline(always)]
pub fn push(c: char, text: &mut Vec<u8>) {
    let mut bytes = [0; 4];
    match c.encode_utf8(&mut bytes).len() {
        1 => text.push(bytes[0]),
        2 => text.extend_from_slice(&bytes[..2]),
        3 => text.extend_from_slice(&bytes[..3]),
        _ => text.extend_from_slice(&bytes),
    }
}

/// The number of ASCII bytes at the start.
fn ascii_run(bytes: &[u8]) -> usize {
    let whole = 16 * bytes.chunks_exact(16).take_while(|part| part.is_ascii()).count();
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(text: &str) -> Normalised {
        let mut out = Normalised::default();
        out.read(text, Version::V1);
        out
    }

    fn string(text: &str) -> String {
        String::from_utf8(normalised(text).text).unwrap()
    }

    #[test]
    fn all_steps() {
        assert_eq!(string("Ｎear-\n Dupli\u{ad}cates  ﬁnd \u{3a3}\u{3c2}"), "nearduplicatesfindσσ");
    }

    #[test]
    fn hyphens_go_at_line_ends_only() {
        assert_eq!(string("a-b -- c- \t\r\nd-"), "a-b--cd-");
        assert_eq!(string("é\u{2010}\u{200b} \nf-g"), "éf-g");
    }

    #[test]
    fn marks_compose_up_to_the_barrier() {
        let marks = "\u{301}".repeat(MAX_NONSTARTERS as usize);
        assert_eq!(string(&format!("e{marks}")), format!("é{}", &marks[2..]));
        assert_eq!(string(&format!("é{marks}\u{323}")), format!("é{marks}\u{323}"));
        assert_eq!(string("e\u{301}\u{323}"), "ẹ\u{301}");
    }

    #[test]
    fn what_is_not_assigned_separates() {
        assert_eq!(string("e\u{378}\u{301}"), "e\u{378}\u{301}");
    }

    #[test]
    fn words_are_counted_in_the_original() {
        assert_eq!(normalised("near duplicates, 近似重複").words, 6);
        assert_eq!(normalised(" one\ttwo\n").words, 2);
    }

    #[test]
    fn numbers_are_no_letters() {
        assert!(!normalised("12.5 + ½").letters);
        assert!(normalised("x").letters);
    }
}
