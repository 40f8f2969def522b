//! Normalisation `default_v1`, as `indexer/text/normalise.py` defines it, in one pass over the text.

use unicode_normalization::UnicodeNormalization;

use crate::codepoints::{
    BLANK, CODE, IGNORABLE, NONSTARTER, Table, UNASSIGNED, UNSPACED, UNSTABLE, WORDLESS, table,
};

const MAX_NONSTARTERS: u32 = 30;

/// A normalised text and what was counted on the way.
#[derive(Default)]
pub struct Normalised {
    /// UTF-8.
    pub text: Vec<u8>,
    /// Its code points; empty when the text is ASCII, where they are the bytes.
    pub codes: Vec<u32>,
    /// Words of the original text.
    pub words: u64,
    /// There is more than numbers, punctuation and symbols.
    pub letters: bool,
}

impl Normalised {
    /// Replace what this holds by the normalised `text`; its memory is used again.
    pub fn read(&mut self, text: &str) {
        self.text.clear();
        self.codes.clear();
        self.words = 0;
        self.letters = false;
        if text.is_ascii() {
            self.read_ascii(text.as_bytes());
        } else {
            Pass::new(self).read(text);
            encode(&self.codes, &mut self.text);
        }
    }

    /// The number of code points.
    pub fn chars(&self) -> usize {
        if self.codes.is_empty() {
            self.text.len()
        } else {
            self.codes.len()
        }
    }

    fn read_ascii(&mut self, text: &[u8]) {
        let mut inside = false;
        for (place, &byte) in text.iter().enumerate() {
            let blank = byte <= b' ' || byte == 0x7F;
            self.words += u64::from(!blank && !inside);
            inside = !blank;
            let goes = || byte == b'-' && ends_line(text[place + 1..].iter().map(|&b| b as char));
            if !blank && !goes() {
                self.text.push(byte.to_ascii_lowercase());
                self.letters |= byte.is_ascii_alphabetic();
            }
        }
    }
}

/// What comes next is the end of a line, after blanks and tabs at most.
fn ends_line(next: impl Iterator<Item = char>) -> bool {
    next.into_iter()
        .find(|c| !matches!(c, ' ' | '\t'))
        .is_some_and(|c| matches!(c, '\n' | '\r'))
}

/// The state of the pass over a text that is not ASCII.
struct Pass<'a> {
    table: &'static Table,
    out: &'a mut Normalised,
    /// The last stable character, which the next one may still change, and the unstable ones after it.
    piece: String,
    marks: u32,
    inside: bool,
}

impl<'a> Pass<'a> {
    fn new(out: &'a mut Normalised) -> Self {
        Pass {
            table: table(),
            out,
            piece: String::new(),
            marks: 0,
            inside: false,
        }
    }

    fn read(mut self, text: &str) {
        let table = self.table;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let word = table[c as usize];
            if word & IGNORABLE != 0 {
                continue;
            }
            self.count(word);
            let visible = rest.clone().filter(|&next| table[next as usize] & IGNORABLE == 0);
            if !(matches!(c, '-' | '\u{2010}') && ends_line(visible)) {
                self.take(c, word);
            }
        }
        self.finish_piece();
    }

    /// Count a word where one starts.
    fn count(&mut self, word: u32) {
        let unspaced = word & UNSPACED != 0;
        let visible = word & BLANK == 0;
        self.out.words += u64::from(unspaced || (visible && !self.inside));
        self.inside = visible && !unspaced;
    }

    /// Compose one character with those before it, unless a barrier stands between.
    fn take(&mut self, c: char, word: u32) {
        if word & UNSTABLE == 0 {
            self.finish_piece();
        }
        self.piece.push(c);
        if word & NONSTARTER == 0 {
            self.marks = 0;
        } else {
            self.marks += 1;
        }
        if word & UNASSIGNED != 0 || (self.marks > 0 && self.marks.is_multiple_of(MAX_NONSTARTERS)) {
            self.finish_piece();
        }
    }

    fn finish_piece(&mut self) {
        let mut piece = self.piece.chars();
        if let (Some(c), None) = (piece.next(), piece.next()) {
            let word = self.table[c as usize];
            if word & UNSTABLE == 0 {
                self.emit(word);
                self.piece.clear();
                return;
            }
        }
        let piece = std::mem::take(&mut self.piece);
        piece.nfkc().for_each(|c| self.emit(self.table[c as usize]));
        self.piece = piece;
        self.piece.clear();
    }

    /// Append the lower case of a character that is neither white space nor a control.
    fn emit(&mut self, word: u32) {
        if word & BLANK == 0 {
            self.out.codes.push(word & CODE);
            self.out.letters |= word & WORDLESS == 0;
        }
    }
}

fn encode(codes: &[u32], text: &mut Vec<u8>) {
    for &code in codes {
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalised(text: &str) -> Normalised {
        let mut out = Normalised::default();
        out.read(text);
        out
    }

    fn string(text: &str) -> String {
        String::from_utf8(normalised(text).text).unwrap()
    }

    #[test]
    fn all_steps() {
        assert_eq!(
            string("Ｎear-\n Dupli\u{ad}cates  ﬁnd \u{3a3}\u{3c2}"),
            "nearduplicatesfindσσ"
        );
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
