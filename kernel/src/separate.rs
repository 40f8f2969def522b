//! Normalisation `default_v2`: one blank between words, none beside characters of scripts without spaces.

use crate::codepoints::{SEPARATOR, Table, UNSPACED, WORDLESS};
use crate::normalise::{Normalised, push};

const BLANK: u8 = b' ';
const SHARP_S: u32 = 0xDF;

/// The lower case of ASCII letters and numbers, a blank for everything else.
const PLAIN: [u8; 128] = {
    let mut plain = [BLANK; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            plain[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    plain
};

/// Append what stays of an ASCII text.
pub fn read_ascii(text: &[u8], out: &mut Normalised) {
    out.text.resize(text.len(), 0);
    let (mut before, mut end, mut place) = (BLANK, 0, 0);
    while place < text.len() {
        let byte = text[place];
        place += 1;
        if byte == b'-'
            && let Some(next) = after_line_end(text, place)
        {
            place = next;
            continue;
        }
        let plain = PLAIN[usize::from(byte & 127)];
        out.words += u64::from(before == BLANK && plain != BLANK);
        out.letters |= plain.is_ascii_lowercase();
        out.text[end] = plain;
        end += usize::from(plain != BLANK || before != BLANK);
        before = plain;
    }
    out.text.truncate(end - usize::from(end > 0 && before == BLANK));
}

/// The place after blanks, one line end and more blanks; nothing if there is no line end.
fn after_line_end(text: &[u8], start: usize) -> Option<usize> {
    let passed = |start: usize| start + text[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = passed(start);
    match text.get(end..)? {
        [b'\r', b'\n', ..] => Some(passed(end + 2)),
        [b'\r' | b'\n', ..] => Some(passed(end + 1)),
        _ => None,
    }
}

/// Where the pass is after a hyphen at the end of a line: its blanks, the line end and the blanks after it go.
#[derive(Default, PartialEq)]
pub enum LineEnd {
    #[default]
    None,
    Before,
    Return,
    After,
}

impl LineEnd {
    pub fn start(&mut self) {
        *self = LineEnd::Before;
    }

    /// Returns true if the character goes.
    #[inline(always)]
    pub fn passes(&mut self, c: char) -> bool {
        if *self == LineEnd::None {
            return false;
        }
        *self = match (&self, c) {
            (LineEnd::Before, ' ' | '\t') => LineEnd::Before,
            (LineEnd::Before, '\r') => LineEnd::Return,
            (LineEnd::Before | LineEnd::Return, '\n') | (LineEnd::Return | LineEnd::After, ' ' | '\t') => {
                LineEnd::After
            }
            _ => LineEnd::None,
        };
        *self != LineEnd::None
    }
}

/// Puts blanks between words, when the next word comes.
#[derive(Default)]
pub struct Separator {
    waiting: bool,
    unspaced: bool,
}

impl Separator {
    /// Append a code point in lower case, and a blank before it where one stands; remember one that separates.
    #[inline(always)]
    pub fn append(&mut self, code: u32, table: &Table, out: &mut Normalised) {
        let word = table[code as usize];
        if word & SEPARATOR != 0 {
            self.waiting = true;
            return;
        }
        let unspaced = word & UNSPACED != 0;
        let first = out.codes.is_empty();
        let apart = unspaced || self.unspaced;
        if self.waiting && !first && !apart {
            append(u32::from(BLANK), out);
        }
        out.words += u64::from(first || apart || self.waiting);
        (self.waiting, self.unspaced) = (false, unspaced);
        out.letters |= word & WORDLESS == 0;
        if code == SHARP_S {
            append(u32::from(b's'), out);
            append(u32::from(b's'), out);
        } else {
            append(code, out);
        }
    }
}

#[inline(always)]
fn append(code: u32, out: &mut Normalised) {
    out.codes.push(code);
    push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), &mut out.text);
}

#[cfg(test)]
mod tests {
    use crate::normalise::{Normalised, Version};

    fn read(text: &str) -> (String, u64, bool) {
        let mut out = Normalised::default();
        out.read(text, Version::V2);
        (String::from_utf8(out.text).unwrap(), out.words, out.letters)
    }

    #[test]
    fn one_blank_between_words() {
        assert_eq!(read(" > Near, duplicates!\n"), ("near duplicates".into(), 2, true));
        assert_eq!(read("> Straße («12»)"), ("strasse 12".into(), 2, true));
        assert_eq!(read(" ... "), (String::new(), 0, false));
        assert_eq!(read("1, 2"), ("1 2".into(), 2, false));
    }

    #[test]
    fn no_blank_beside_scripts_without_spaces() {
        assert_eq!(read("近似 x 重複、 12 月"), ("近似x重複12月".into(), 7, true));
    }

    #[test]
    fn hyphenated_words_are_joined() {
        assert_eq!(read("dupli- \t\r\n  cates a-\n\nb").0, "duplicates a b");
        assert_eq!(read("dupli\u{2010}\u{200b}\n cätes-").0, "duplicätes");
    }
}
