//! The words of ASCII with their offsets, as `words` and `normal_words` of `indexer/comparing/words.py` define them.

use crate::separate::after_line_end;

/// The folded words of a text with blanks between them, and where each begins and ends.
#[derive(Default)]
pub struct Spelled {
    pub spaced: String,
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
}

/// Read a text, of which only its ASCII is of words; runs of letters and digits are joined, or words of their own.
pub fn read(text: &[u8], is_joined: bool) -> Spelled {
    let mut words = Spelled::default();
    let mut place = 0;
    while place < text.len() {
        if !text[place].is_ascii_alphanumeric() {
            place += 1;
            continue;
        }
        words.starts.push(place as u32);
        loop {
            words.spaced.push(text[place].to_ascii_lowercase().into());
            if text.get(place + 1).is_some_and(u8::is_ascii_alphanumeric) {
                place += 1;
            } else if let Some((joiner, next)) = joined(text, place).filter(|_| is_joined) {
                words.spaced.extend(joiner);
                place = next;
            } else {
                break;
            }
        }
        place += 1;
        words.ends.push(place as u32);
        words.spaced.push(' ');
    }
    words
}

/// What joins a letter or digit to the next one: its character if it is kept, and where that is; nothing if none does.
fn joined(text: &[u8], place: usize) -> Option<(Option<char>, usize)> {
    let (letter, joiner) = (text[place], *text.get(place + 1)?);
    let next = text.get(place + 2).copied().unwrap_or_default();
    let joins = match joiner {
        b'-' | b'\'' | b'.' | b'_' => next.is_ascii_alphanumeric(),
        b',' | b':' | b'/' => letter.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    };
    if joins {
        let is_kept = joiner != b'-' || !letter.is_ascii_alphabetic() || !next.is_ascii_alphabetic();
        return Some((is_kept.then_some(joiner.into()), place + 2));
    }
    let next = after_line_end(text, place + 2).filter(|_| joiner == b'-' && letter.is_ascii_alphabetic())?;
    text.get(next).is_some_and(u8::is_ascii_alphabetic).then_some((None, next))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn words_and_their_joiners() {
        let runs = read(b"E-Mail 1,000", false);
        assert_eq!((runs.spaced.as_str(), runs.starts), ("e mail 1 000 ", vec![0, 2, 7, 9]));
        let words = read(b" E-Mail 1,000 a,b 5-a it's re- \r\n plies. A-1", true);
        assert_eq!(words.spaced, "email 1,000 a b 5-a it's replies a-1 ");
        assert_eq!((words.starts[0], words.ends[0]), (1, 7));
        assert_eq!((words.starts[6], words.ends[6]), (27, 39));
    }
}
