//! Normalisation `default_v2`: one blank between words, none beside characters of scripts without spaces.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::ascii::{Block, SIZE};
#[cfg(target_arch = "x86_64")]
use crate::ascii::{avx2, avx512};
use crate::codepoints::{SEPARATOR, Table, UNSPACED, WORDLESS};
use crate::normalise::{Normalised, push};
#[cfg(target_arch = "x86_64")]
use crate::processor::has_all;

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
    let inside = read_run(text, false, out);
    out.text.truncate(out.text.len() - usize::from(!inside && !out.text.is_empty()));
}

/// Append the letters and numbers of ASCII text, and a blank after each word that ends here.
///
/// `inside`: the text before ended within a word. Returns that of this text.
fn read_run(text: &[u8], inside: bool, out: &mut Normalised) -> bool {
    if out.symbols.wanted {
        read_run_with::<true>(text, inside, out)
    } else {
        read_run_with::<false>(text, inside, out)
    }
}

fn read_run_with<const SYMBOLS: bool>(text: &[u8], inside: bool, out: &mut Normalised) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_all!("avx512bw", "avx512vbmi2") {
        // SAFETY: the check above shows that the processor has these instructions.
        return unsafe { read_by_avx512::<SYMBOLS>(text, inside, out) };
    } else if avx2::are_worthwhile(text) {
        // SAFETY: as above.
        return unsafe { read_by_avx2::<SYMBOLS>(text, inside, out) };
    }
    #[cfg(target_arch = "aarch64")]
    if text.len() >= crate::ascii::MIN_SIZE {
        return read_blocks::<crate::ascii::neon::Bytes, SYMBOLS>(text, inside, out);
    }
    read_bytes::<SYMBOLS>(text, inside, out)
}

fn read_bytes<const SYMBOLS: bool>(text: &[u8], inside: bool, out: &mut Normalised) -> bool {
    let start = out.text.len();
    out.text.resize(start + text.len(), 0);
    let room = &mut out.text[start..];
    let (mut before, mut end, mut place) = (if inside { b'a' } else { BLANK }, 0, 0);
    let (mut words, mut letters) = (0, false);
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
        if SYMBOLS {
            out.symbols.take(byte.into(), plain == BLANK, before != BLANK, out.words + words);
        }
        words += u64::from(before == BLANK && plain != BLANK);
        letters |= plain.is_ascii_lowercase();
        room[end] = plain;
        end += usize::from(plain != BLANK || before != BLANK);
        before = plain;
    }
    out.text.truncate(start + end);
    out.words += words;
    out.letters |= letters;
    before != BLANK
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi1,bmi2")]
fn read_by_avx512<const SYMBOLS: bool>(text: &[u8], inside: bool, out: &mut Normalised) -> bool {
    read_blocks::<avx512::Bytes, SYMBOLS>(text, inside, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn read_by_avx2<const SYMBOLS: bool>(text: &[u8], inside: bool, out: &mut Normalised) -> bool {
    read_blocks::<avx2::Bytes, SYMBOLS>(text, inside, out)
}

/// The same, a block at a time.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn read_blocks<B: Block, const SYMBOLS: bool>(text: &[u8], mut inside: bool, out: &mut Normalised) -> bool {
    out.text.reserve(text.len() + SIZE);
    let mut start = 0;
    while start < text.len() {
        let part = &text[start..text.len().min(start + SIZE)];
        let bytes = B::load(part);
        let (mut length, mut next) = (part.len(), start + part.len());
        let minus = bytes.within(b'-', b'-');
        let mut hyphens = minus;
        while hyphens != 0 {
            let place = hyphens.trailing_zeros() as usize;
            if let Some(end) = after_line_end(text, start + place + 1) {
                (length, next) = (place, end);
                break;
            }
            hyphens &= hyphens - 1;
        }
        start = next;
        if length == 0 {
            continue;
        }
        let read = u64::MAX >> (SIZE - length);
        let kept = bytes.plain();
        let letters = kept.within(b'a', b'z') & read;
        let plain = letters | bytes.within(b'0', b'9') & read;
        let after = plain << 1 | u64::from(inside);
        if SYMBOLS {
            let ends = bytes.within(b'\n', b'\n') | bytes.within(b'\r', b'\r');
            let others = bytes.within(b'#', b'%') | bytes.within(b'<', b'>') | bytes.within(b'+', b'+');
            let found = (others | minus & !after) & read;
            out.symbols.take_block(&part[..length], [plain, plain & !after, found, ends & read], out.words);
        }
        out.words += u64::from((plain & !after).count_ones());
        out.letters |= letters != 0;
        inside = plain >> (length - 1) & 1 == 1;
        kept.append(plain | after & read, &mut out.text);
    }
    inside
}

/// The place after blanks, one line end and more blanks; nothing if there is no line end.
pub fn after_line_end(text: &[u8], start: usize) -> Option<usize> {
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

/// The part of ASCII text at whose end nothing depends on what follows: neither a letter, which a mark may change, nor
/// hyphens that may stand at the end of a line, nor a letter before them.
pub fn settled(run: &[u8]) -> &[u8] {
    let is_open = |byte: &u8| *byte == b'-' || byte.is_ascii_whitespace();
    let open = run.iter().rev().take_while(|byte| is_open(byte)).count();
    let (before, end) = run.split_at(run.len() - open);
    let part = if end.contains(&b'-') { before } else { run };
    &part[..part.len().saturating_sub(1)]
}

/// Puts blanks between words, when the next word comes.
#[derive(Default)]
pub struct Separator {
    waiting: bool,
    unspaced: bool,
}

impl Separator {
    /// Append what stays of ASCII text whose end is settled.
    pub fn append_ascii(&mut self, text: &[u8], out: &mut Normalised) {
        let start = out.text.len();
        let is_spaced = start > 0 && !self.unspaced;
        if self.waiting && is_spaced {
            out.text.push(BLANK);
        }
        let first = out.text.len();
        let inside = read_run(text, is_spaced && !self.waiting, out);
        if out.text.len() == first {
            out.text.truncate(start);
        } else {
            (self.waiting, self.unspaced) = (!inside, false);
            out.text.truncate(out.text.len() - usize::from(!inside));
        }
        out.codes.extend(out.text[start..].iter().map(|&byte| u32::from(byte)));
    }

    /// Append a code point in lower case, and a blank before it where one stands; remember one that separates.
    #[inline(always)]
    pub fn append(&mut self, code: u32, table: &Table, out: &mut Normalised) {
        let word = table[code as usize];
        if out.symbols.wanted {
            let inside = !self.waiting && !self.unspaced && !out.codes.is_empty();
            out.symbols.take(code, word & SEPARATOR != 0, inside, out.words);
        }
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
    use super::{read_bytes, read_run};
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
    fn both_ways_read_the_same() {
        let bytes = b"ab1 -\r\n\tZ.-+$<5";
        let byte = |n: u32| bytes[(n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 11) as usize % bytes.len()];
        let text: Vec<u8> = (0..5000_u32).map(byte).collect();
        for (start, end) in (0..300).map(|n| (n, n * 7)).filter(|(start, end)| start < end) {
            for inside in [false, true] {
                let (mut one, mut other) = (Normalised::default(), Normalised::default());
                (one.symbols.wanted, other.symbols.wanted) = (true, true);
                let ends = read_run(&text[start..end], inside, &mut one);
                assert_eq!(ends, read_bytes::<true>(&text[start..end], inside, &mut other));
                assert_eq!((&one.text, one.words, one.letters), (&other.text, other.words, other.letters));
                assert_eq!(one.symbols.text, other.symbols.text);
                #[cfg(target_arch = "x86_64")]
                if crate::ascii::avx2::are_worthwhile(&text[start..end]) {
                    let mut other = Normalised::default();
                    other.symbols.wanted = true;
                    // SAFETY: the check above shows that the processor has these instructions.
                    assert_eq!(ends, unsafe { super::read_by_avx2::<true>(&text[start..end], inside, &mut other) });
                    assert_eq!((&one.text, one.words, one.letters), (&other.text, other.words, other.letters));
                    assert_eq!(one.symbols.text, other.symbols.text);
                }
            }
        }
    }

    #[test]
    fn runs_of_ascii_join_what_stands_beside_them() {
        let run = "é-\n  a long run, dupli-\ncates of it, near -";
        assert_eq!(
            read(&format!("{run}\u{200b}\nx{run}")).0,
            "éa long run duplicates of it near xéa long run duplicates of it near"
        );
        assert_eq!(read("e a long run of e\u{301}").0, "e a long run of é");
        assert_eq!(read("e a long run of e-\n\u{301}").0, "e a long run of é");
        assert_eq!(read("e a long run of e-\n-\n -\r\n\t\u{301}").0, "e a long run of é");
        assert_eq!(read("近 a long run. 近..........似 a long run").0, "近a long run近似a long run");
        assert_eq!(read("é..........é").0, "é é");
        assert_eq!(read("..........é a long run").1, 4);
        assert_eq!(read("é-\n-\n-\n-\n-\n-\n-\nx").0, "éx");
    }

    #[test]
    fn hyphenated_words_are_joined() {
        assert_eq!(read("dupli- \t\r\n  cates a-\n\nb").0, "duplicates a b");
        assert_eq!(read("dupli\u{2010}\u{200b}\n cätes-").0, "duplicätes");
    }
}
