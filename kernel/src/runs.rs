//! The runs of words that two texts have in common in order, as `common_runs` of
//! `indexer/comparing/alignment.py` defines them.

use std::collections::HashMap;

const BITS: usize = 64;

/// A run: its first word in either text, and its words.
pub type Run = (usize, usize, usize);

/// The runs of a longest common subsequence of two texts of numbered words, in order; None beyond `max_cells` pairs of
/// words. Negative numbers are words that the other text lacks.
pub fn common_runs(a: &[i64], b: &[i64], max_cells: usize) -> Option<Vec<Run>> {
    let (places_a, places_b) = shared(a, b);
    let word_a = |index: usize| a[places_a[index]];
    let word_b = |index: usize| b[places_b[index]];
    let (size_a, size_b) = (places_a.len(), places_b.len());
    let shorter = size_a.min(size_b);
    let first = (0..shorter).take_while(|&index| word_a(index) == word_b(index)).count();
    let rest = shorter - first;
    let last = (1..=rest).take_while(|&back| word_a(size_a - back) == word_b(size_b - back)).count();
    let left: Vec<i64> = (first..size_a - last).map(word_a).collect();
    let right: Vec<i64> = (first..size_b - last).map(word_b).collect();
    if left.len().saturating_mul(right.len()) > max_cells {
        return None;
    }
    let mut runs = Vec::new();
    let mut add = |index_a: usize, index_b: usize| join(&mut runs, places_a[index_a], places_b[index_b]);
    (0..first).for_each(|index| add(index, index));
    matches(&left, &right).into_iter().rev().for_each(|(i, j)| add(first + i, first + j));
    (1..=last).rev().for_each(|back| add(size_a - back, size_b - back));
    Some(runs)
}

fn join(runs: &mut Vec<Run>, a: usize, b: usize) {
    match runs.last_mut() {
        Some((start_a, start_b, words)) if *start_a + *words == a && *start_b + *words == b => *words += 1,
        _ => runs.push((a, b, 1)),
    }
}

/// The positions of the words that the other text has, too.
fn shared(a: &[i64], b: &[i64]) -> (Vec<usize>, Vec<usize>) {
    let kinds = a.iter().chain(b).filter_map(|&word| usize::try_from(word).ok()).max().map_or(0, |word| word + 1);
    let flags = |words: &[i64]| {
        let mut has = vec![false; kinds];
        words.iter().filter_map(|&word| usize::try_from(word).ok()).for_each(|word| has[word] = true);
        has
    };
    let places = |words: &[i64], has: &[bool]| {
        let is_shared = |&place: &usize| usize::try_from(words[place]).is_ok_and(|word| has[word]);
        (0..words.len()).filter(is_shared).collect()
    };
    (places(a, &flags(b)), places(b, &flags(a)))
}

/// The pairs of a longest common subsequence, last ones first: a bit a word of `a` in a row a word of `b` (Hyyrö 2004),
/// read from the end, where a word of `a` is left out before one of `b`.
fn matches(a: &[i64], b: &[i64]) -> Vec<(usize, usize)> {
    let width = a.len().div_ceil(BITS);
    let mut rows: HashMap<i64, usize> = HashMap::new();
    let kinds: Vec<usize> = b
        .iter()
        .map(|&word| {
            let next = rows.len();
            *rows.entry(word).or_insert(next)
        })
        .collect();
    let mut stands = vec![0u64; rows.len() * width];
    for (place, word) in a.iter().enumerate() {
        if let Some(kind) = rows.get(word) {
            stands[kind * width + place / BITS] |= 1 << (place % BITS);
        }
    }
    let mut table = vec![!0u64; (b.len() + 1) * width];
    for (row, kind) in kinds.iter().enumerate() {
        let (above, below) = table.split_at_mut((row + 1) * width);
        let above = &above[row * width..];
        let mut carry = false;
        for (index, (&state, cell)) in above.iter().zip(&mut below[..width]).enumerate() {
            let both = state & stands[kind * width + index];
            let (sum, first) = state.overflowing_add(both);
            let (sum, second) = sum.overflowing_add(carry.into());
            carry = first || second;
            *cell = sum | (state - both);
        }
    }
    let is_set = |row: usize, place: usize| table[row * width + place / BITS] >> (place % BITS) & 1 == 1;
    let (mut place, mut row) = (a.len(), b.len());
    let mut found = Vec::new();
    while place > 0 && row > 0 {
        if is_set(row, place - 1) {
            place -= 1;
            continue;
        }
        row -= 1;
        if row == 0 || is_set(row, place - 1) {
            place -= 1;
            found.push((place, row));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_lie_between_words_that_differ() {
        assert_eq!(common_runs(&[0, 1, 2, 3], &[0, -1, 2, 3], 9), Some(vec![(0, 0, 1), (2, 2, 2)]));
        assert_eq!(common_runs(&[0, 1, 0], &[1, 0, 0], 9), Some(vec![(0, 1, 1), (2, 2, 1)]));
        assert_eq!(common_runs(&[], &[0], 0), Some(vec![]));
    }

    #[test]
    fn texts_beyond_the_table_are_left_to_the_caller() {
        assert_eq!(common_runs(&[0, 1, 2], &[2, 1, 0], 8), None);
    }
}
