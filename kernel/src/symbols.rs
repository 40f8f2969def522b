//! `symbols_v1`: symbols of value, which `default_v2` leaves out, each with the number of words before it, as
//! `value_symbols` of `indexer/fingerprinting/normalise.py` defines them.

use crate::normalise::push;

const MINUS: u32 = b'-' as u32;
const NOTHING: u32 = 0;
/// Bytes of a part of a text that is looked at as one.
const PART: usize = 64;
/// Digits of the greatest number.
const DIGITS: usize = 20;

/// The symbols of the text that is read.
#[derive(Default)]
pub struct Symbols {
    /// They are asked for.
    pub wanted: bool,
    /// Each symbol in UTF-8, and in digits the words before it.
    pub text: Vec<u8>,
    /// What is a symbol if a digit comes next, a minus also if a currency does.
    pending: u32,
    /// A word stands on this line.
    in_line: bool,
}

impl Symbols {
    pub fn clear(&mut self) {
        self.text.clear();
        (self.pending, self.in_line) = (NOTHING, false);
    }

    /// Take the next code point; `inside`: it comes directly after one of a word; `words`: those that began before it.
    pub fn take(&mut self, code: u32, separates: bool, inside: bool, words: u64) {
        self.finish(code, words);
        if !separates {
            self.in_line = true;
        } else if is_currency(code) {
            self.push(code, words);
        } else if is_sign(code) {
            if self.in_line {
                self.push(code, words);
            } else {
                self.pending = code;
            }
        } else if is_minus(code) {
            self.pending = if inside { NOTHING } else { MINUS };
        } else if code == 10 || code == 13 {
            self.in_line = false;
        }
    }

    /// Decide on what waits for the next code point.
    fn finish(&mut self, next: u32, words: u64) {
        if self.pending != NOTHING && makes_sign(self.pending, next) {
            self.push(self.pending, words);
        }
        self.pending = NOTHING;
    }

    fn push(&mut self, code: u32, words: u64) {
        push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), &mut self.text);
        let (mut digits, mut start, mut rest) = ([0; DIGITS], DIGITS, words);
        while rest > 0 || start == DIGITS {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.text.extend_from_slice(&digits[start..]);
    }

    /// Take up to 64 bytes of ASCII. Bit masks: `plain` bytes are of words, `starts` begin one, `marks` may be symbols,
    /// `ends` are ends of lines; no minus stands directly after a word. `words`: those that began before.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub fn take_block(&mut self, bytes: &[u8], [plain, starts, marks, ends]: [u64; 4], words: u64) {
        if let (true, Some(&first)) = (self.pending != NOTHING, bytes.first()) {
            self.finish(first.into(), words);
        }
        let mut rest = marks;
        while rest != 0 {
            let place = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let below = (1 << place) - 1;
            let (code, before) = (u32::from(bytes[place]), words + u64::from((starts & below).count_ones()));
            let is_certain = is_currency(code) || code != MINUS && self.has_word(plain & below, ends & below);
            match bytes.get(place + 1) {
                _ if is_certain => self.push(code, before),
                Some(&next) if makes_sign(code, next.into()) => self.push(code, before),
                Some(_) => {}
                None => self.pending = code,
            }
        }
        self.in_line = self.has_word(plain, ends);
    }

    /// Whether a word stands after the last end of a line.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn has_word(&self, plain: u64, ends: u64) -> bool {
        if ends == 0 { self.in_line || plain != 0 } else { plain > ends }
    }
}

/// Whether a sign, or a minus, is one because of what comes next.
fn makes_sign(code: u32, next: u32) -> bool {
    (0x30..=0x39).contains(&next) || code == MINUS && is_currency(next)
}

fn is_currency(code: u32) -> bool {
    matches!(code, 0x24 | 0xA2..=0xA5 | 0x20A0..=0x20BF)
}

fn is_sign(code: u32) -> bool {
    matches!(
        code,
        0x23 | 0x25 | 0x2B | 0x3C..=0x3E | 0xB0 | 0xB1 | 0xD7 | 0xF7 | 0x2030 | 0x2248 | 0x2260 | 0x2264 | 0x2265
    )
}

fn is_minus(code: u32) -> bool {
    matches!(code, MINUS | 0x2013 | 0x2212)
}

/// The fractions, ratios, times and ranges of a text without their blanks, as `number_symbols` of
/// `indexer/fingerprinting/fingerprint.py` defines them.
pub fn number_symbols(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut found, mut end) = (String::new(), 0);
    for place in may_be_in_numbers(bytes) {
        let byte = bytes[place];
        let (size, is_slash) = match byte {
            b'/' => (1, true),
            b':' | b'-' => (1, false),
            0xE2 if bytes[place..].starts_with("\u{2044}".as_bytes()) => (3, true),
            _ => continue,
        };
        let blank = |at: usize| usize::from(is_slash && bytes.get(at) == Some(&b' '));
        let first_end = place - if place > 0 { blank(place - 1) } else { 0 };
        let first = first_end - bytes[..first_end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let second = place + size + blank(place + size);
        let last = second + bytes[second..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_short = |digits: usize| (1..=3).contains(&digits);
        if first < end || !is_short(first_end - first) || !is_short(last - second) {
            continue;
        }
        if !goes_on_before(&bytes[..first]) && !goes_on_after(&bytes[last..]) {
            if !found.is_empty() {
                found.push(' ');
            }
            found.push_str(&text[first..first_end]);
            found.push(if is_slash { '/' } else { byte as char });
            found.push_str(&text[second..last]);
            end = last;
        }
    }
    found
}

/// The places of what may be a sign between two numbers; most parts of a text have none and are passed over whole.
fn may_be_in_numbers(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let ends = 1..bytes.len().saturating_sub(1);
    ends.step_by(PART).filter(|&start| has_sign_of_number(bytes, start)).flat_map(|start| {
        let part = start..(start + PART).min(bytes.len() - 1);
        part.filter(|&place| may_be_sign(bytes[place - 1], bytes[place], bytes[place + 1]))
    })
}

/// Whether one of the places of a part may be one; nothing branches, so that many bytes are looked at together.
fn has_sign_of_number(bytes: &[u8], start: usize) -> bool {
    let size = PART.min(bytes.len() - 1 - start);
    let (before, after) = (&bytes[start - 1..][..size], &bytes[start + 1..][..size]);
    let around = before.iter().zip(&bytes[start..][..size]).zip(after);
    around.fold(0, |found, ((&before, &byte), &after)| found | u8::from(may_be_sign(before, byte, after))) != 0
}

#[allow(clippy::needless_bitwise_bool)]
fn may_be_sign(before: u8, byte: u8, after: u8) -> bool {
    let near = |byte: u8| byte.is_ascii_digit() | (byte == b' ');
    let is_sign = (byte == b'/') | (byte == b':') | (byte == b'-');
    (is_sign & near(before) & near(after)) | (byte == 0xE2)
}

/// Whether bytes end in what makes a number after them a part of something longer.
fn goes_on_before(bytes: &[u8]) -> bool {
    match *bytes {
        [.., digit, b' ', b'/', b' '] if digit.is_ascii_digit() => true,
        [.., before, b'.' | b'/' | b':' | b',' | b'-'] if is_word(before) => true,
        [.., before] => is_word(before),
        [] => false,
    }
}

/// Whether bytes begin with what makes a number before them a part of something longer.
fn goes_on_after(bytes: &[u8]) -> bool {
    match *bytes {
        [b' ', b'/', b' ', digit, ..] if digit.is_ascii_digit() => true,
        [b'.' | b'/' | b':' | b',' | b'-', after, ..] if is_word(after) => true,
        [after, ..] => is_word(after),
        [] => false,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use crate::normalise::{Normalised, Version};

    fn symbols(text: &str) -> String {
        let mut out = Normalised::default();
        out.symbols.wanted = true;
        out.read(text, Version::V2);
        String::from_utf8(out.symbols.text).unwrap()
    }

    #[test]
    fn signs_with_the_words_before_them() {
        assert_eq!(symbols("> 7 < 8, -500 or 5-6 in C++"), "<1-2+8+8");
        assert_eq!(symbols("> é 7 < 8, \u{2212}500 or 5-6 in C++"), "<2-3+9+9");
        assert_eq!(symbols("a -$5\n> b\n+5 --\n5"), "-1$1+3-4");
    }
}
