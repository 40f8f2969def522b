//! The Python module `indexer._kernel`, described in `indexer/_kernel.pyi`.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString};

use crate::grams::MAX_WIDTH;
use crate::in_order::{Numbers, Words, split};
use crate::keys::write_hex;
use crate::maps::Maps;
use crate::normalise::{Normalised, Version};
use crate::signer::{Fingerprint, Recipe, Status, sign_all};
use crate::slots::{self, Buckets};
use crate::{runs, spelled, symbols};

#[pymodule]
mod _kernel {
    #[pymodule_export]
    use super::{
        WordNumbers, ascii_words, common_runs, differ_at_most, near_in_buckets, near_sketches, number_symbols, sign,
        spaced_words, words_in_common,
    };
}

type Arrays<'py> = (
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyList>,
    Bound<'py, PyByteArray>,
    Bound<'py, PyByteArray>,
);

/// Fingerprint texts; see the stub for the arguments and the arrays that come back.
#[pyfunction]
#[pyo3(signature = (texts, *, width, slots, bands, rows, simhash, blocks, min_features, threads=1, key=None,
    normaliser=1, words=false, packed=false, digits=0, symbols=false))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
fn sign<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyString>>,
    width: usize,
    slots: usize,
    bands: usize,
    rows: usize,
    simhash: bool,
    blocks: usize,
    min_features: usize,
    threads: usize,
    key: Option<[u64; 2]>,
    normaliser: u8,
    words: bool,
    packed: bool,
    digits: usize,
    symbols: bool,
) -> PyResult<Arrays<'py>> {
    let normaliser = match normaliser {
        1 => Version::V1,
        2 => Version::V2,
        _ => return Err(PyValueError::new_err("settings beyond what the kernel computes")),
    };
    let recipe = Recipe {
        normaliser,
        words,
        width,
        slots,
        packed,
        bands,
        rows,
        digits,
        simhash,
        blocks,
        min_features,
        key,
        symbols,
    };
    check(&recipe)?;
    let texts = texts.iter().map(utf8).collect::<PyResult<Vec<_>>>()?;
    let signed = guarded(py, || sign_all(&texts, &recipe, threads))?;
    arrays(py, &signed, &recipe)
}

/// Returns true if parity maps differ in at most so many bits; see the stub.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn differ_at_most<'py>(
    py: Python<'py>,
    address: usize,
    maps: usize,
    words: usize,
    left: &[u8],
    right: &[u8],
    most: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let places = |bytes: &[u8]| numbers(bytes).all(|place| usize::try_from(place).is_ok_and(|place| place < maps));
    let size = maps.checked_mul(words).filter(|&size| size <= isize::MAX as usize / 8);
    let good = left.len() == right.len() && left.len() == most.len() && places(left) && places(right);
    let (Some(size), true, true) = (size, good, address != 0 && address.is_multiple_of(align_of::<u64>())) else {
        return Err(PyValueError::new_err("places beyond the maps, or arrays of unlike length"));
    };
    // SAFETY: the caller hands the address of an array of `maps` times `words` words that it holds until this returns.
    let all = unsafe { std::slice::from_raw_parts(address as *const u64, size) };
    let flags = py.detach(|| {
        let pairs = numbers(left).zip(numbers(right)).zip(numbers(most));
        Maps::new(all, words)
            .differ_at_most(pairs.map(|((a, b), most)| (a.cast_unsigned() as usize, b.cast_unsigned() as usize, most)))
    });
    Ok(PyBytes::new(py, &flags))
}

/// Pairs of sketches with enough equal slots; see the stub.
#[pyfunction]
fn near_sketches<'py>(
    py: Python<'py>,
    left: &[u8],
    right: &[u8],
    width: usize,
    least: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let whole = |bytes: &[u8]| width > 0 && bytes.len().is_multiple_of(width) && u32::try_from(bytes.len()).is_ok();
    if !(whole(left) && whole(right)) {
        return Err(PyValueError::new_err("no whole sketches of so many slots"));
    }
    let near = py.detach(|| slots::near_sketches(left, right, width, least));
    let bytes: Vec<u8> = near.as_flattened().iter().flat_map(|number| number.to_ne_bytes()).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Pairs of sketches in the same bucket with enough equal slots; see the stub.
#[pyfunction]
fn near_in_buckets<'py>(
    py: Python<'py>,
    sketches: &[u8],
    width: usize,
    keys: &[u8],
    bands: usize,
    open: &[u8],
    least: u32,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let count = sketches.len().checked_div(width).unwrap_or(0);
    let cells = count.checked_mul(bands);
    let good = width > 0 && count * width == sketches.len() && u32::try_from(count).is_ok() && bands > 0;
    if !good || cells != Some(open.len()) || cells != Some(keys.len() / 8) || !keys.len().is_multiple_of(8) {
        return Err(PyValueError::new_err("no whole sketches of so many slots, or not as many keys for each"));
    }
    let keys: Vec<u64> = keys.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes)).collect();
    let pairs = py.detach(|| Buckets { sketches, width, keys: &keys, bands, open }.near(least));
    let bytes: Vec<u8> = pairs.near.as_flattened().iter().flat_map(|number| number.to_ne_bytes()).collect();
    Ok((PyBytes::new(py, &bytes), pairs.candidates))
}

/// The words that measures compare; see the stub.
#[pyfunction]
fn spaced_words<'py>(py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    let text = utf8(text)?;
    let spaced = guarded(py, || {
        let mut normalised = Normalised::default();
        normalised.read(&text, Version::V2);
        normalised.spaced()
    })?;
    Ok(PyString::new(py, &spaced))
}

/// The numbers of the words of many texts; see the stub.
#[pyclass]
#[derive(Default)]
struct WordNumbers(Numbers);

type Numbered<'py> = (Bound<'py, PyBytes>, Bound<'py, PyList>);

#[pymethods]
impl WordNumbers {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn of_text<'py>(&mut self, text: &Bound<'py, PyString>) -> PyResult<Numbered<'py>> {
        let mut normalised = Normalised::default();
        normalised.read(&utf8(text)?, Version::V2);
        let spaced = normalised.spaced();
        self.number(text.py(), split(&spaced))
    }

    #[allow(clippy::needless_pass_by_value)]
    fn of_words<'py>(&mut self, py: Python<'py>, words: Vec<Bound<'py, PyString>>) -> PyResult<Numbered<'py>> {
        let words = words.iter().map(utf8).collect::<PyResult<Vec<_>>>()?;
        self.number(py, words.iter().map(AsRef::as_ref))
    }
}

impl WordNumbers {
    fn number<'a, 'py>(&mut self, py: Python<'py>, words: impl Iterator<Item = &'a str>) -> PyResult<Numbered<'py>> {
        let mut numbers = Vec::new();
        let new = PyList::new(py, self.0.add(words, &mut numbers))?;
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Ok((PyBytes::new(py, &bytes), new))
    }
}

type Spelled<'py> = (Bound<'py, PyList>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The words of ASCII; see the stub.
#[pyfunction]
fn ascii_words<'py>(py: Python<'py>, text: &Bound<'py, PyString>, joined: bool) -> PyResult<Spelled<'py>> {
    let text = utf8(text)?;
    let mut numbers = Vec::new();
    let words = guarded(py, || spelled::read(text.as_bytes(), joined))?;
    let vocabulary = PyList::new(py, Numbers::default().add(split(&words.spaced), &mut numbers))?;
    let bytes = |numbers: &[u32]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    };
    Ok((vocabulary, bytes(&numbers), bytes(&words.starts), bytes(&words.ends)))
}

/// Fractions, ratios, times and ranges; see the stub.
#[pyfunction]
fn number_symbols<'py>(py: Python<'py>, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyString>> {
    let text = utf8(text)?;
    let found = guarded(py, || symbols::number_symbols(&text))?;
    Ok(PyString::new(py, &found))
}

/// The runs of words that two texts have in common; see the stub.
#[pyfunction]
fn common_runs(py: Python<'_>, a: &[u8], b: &[u8], max_cells: usize) -> PyResult<Option<Vec<runs::Run>>> {
    let [a, b] =
        [a, b].map(|bytes| bytes.as_chunks().0.iter().map(|eight| i64::from_ne_bytes(*eight)).collect::<Vec<_>>());
    guarded(py, || runs::common_runs(&a, &b, max_cells))
}

/// The words that a text has in common with others; see the stub.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn words_in_common<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    others: Vec<Bound<'py, PyString>>,
    least: f64,
) -> PyResult<Bound<'py, PyList>> {
    let text = utf8(text)?;
    let others = others.iter().map(utf8).collect::<PyResult<Vec<_>>>()?;
    let counts = guarded(py, || {
        let mut normalised = Normalised::default();
        normalised.read(&text, Version::V2);
        let spaced = normalised.spaced();
        let words = Words::new(&spaced);
        let compare = |other: &Cow<str>| {
            normalised.read(other, Version::V2);
            words.in_common(&normalised.spaced(), least)
        };
        others.iter().map(compare).collect::<Vec<_>>()
    })?;
    PyList::new(
        py,
        counts
            .into_iter()
            .map(|common| common.map(|common| (common.in_order, common.shared, common.words, common.excess))),
    )
}

/// Returns what a computation gives without the interpreter's lock; a panic is an error.
fn guarded<T: Send>(py: Python<'_>, compute: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(compute)))
        .map_err(|_| PyRuntimeError::new_err("the compiled kernel failed; its message went to stderr"))
}

/// The 32-bit numbers of an array in native byte order.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.chunks_exact(4).map(|four| i32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
}

fn check(recipe: &Recipe) -> PyResult<()> {
    let good = (1..=MAX_WIDTH).contains(&recipe.width)
        && recipe.slots <= 1024
        && recipe.bands.saturating_mul(recipe.rows) <= recipe.slots
        && recipe.blocks <= 64
        && recipe.digits <= 12
        && !(recipe.words && recipe.normaliser == Version::V1)
        && !(recipe.symbols && recipe.normaliser == Version::V1);
    if good { Ok(()) } else { Err(PyValueError::new_err("settings beyond what the kernel computes")) }
}

/// The text in UTF-8; each lone surrogate becomes U+FFFD, which has three bytes as the surrogate has.
fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(text.into());
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let mut bytes = encoded.cast_into::<PyBytes>()?.as_bytes().to_vec();
    for start in 0..bytes.len().saturating_sub(2) {
        if bytes[start] == 0xED && bytes[start + 1] >= 0xA0 {
            bytes[start..start + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    Ok(String::from_utf8(bytes)?.into())
}

fn arrays<'py>(py: Python<'py>, signed: &[Fingerprint], recipe: &Recipe) -> PyResult<Arrays<'py>> {
    let row = |one: &Fingerprint, row: &mut [u8]| row[..one.minhash.len()].copy_from_slice(&one.minhash);
    let number = |number: fn(&Fingerprint) -> u64| {
        packed(py, signed, 8, move |one, bytes| {
            bytes.copy_from_slice(&number(one).to_ne_bytes());
        })
    };
    Ok((
        packed(py, signed, recipe.size(), row)?,
        number(|one| one.simhash)?,
        PyList::new(py, signed.iter().map(|one| &one.bands))?,
        PyList::new(py, signed.iter().map(|one| &one.blocks))?,
        PyList::new(py, signed.iter().map(|one| status(py, one.status)))?,
        PyList::new(py, signed.iter().map(|one| hexadecimal(py, &one.exact)))?,
        number(|one| one.words)?,
        number(|one| one.chars)?,
    ))
}

/// One array of `size` bytes a fingerprint, in native byte order; `write` gets them as zeros.
fn packed<'py>(
    py: Python<'py>,
    signed: &[Fingerprint],
    size: usize,
    write: impl Fn(&Fingerprint, &mut [u8]),
) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, size * signed.len(), |all| {
        all.chunks_exact_mut(size.max(1)).zip(signed).for_each(|(bytes, one)| write(one, bytes));
        Ok(())
    })
}

fn status(py: Python<'_>, status: Status) -> &Bound<'_, PyString> {
    match status {
        Status::Complete => pyo3::intern!(py, "complete"),
        Status::Empty => pyo3::intern!(py, "empty"),
        Status::NumbersOnly => pyo3::intern!(py, "numbers_only"),
        Status::TooShort => pyo3::intern!(py, "too_short"),
    }
}

fn hexadecimal<'py>(py: Python<'py>, digest: &[u8; 32]) -> Bound<'py, PyString> {
    let mut digits = [0; 64];
    for (byte, pair) in digest.iter().zip(digits.chunks_exact_mut(2)) {
        write_hex((*byte).into(), pair);
    }
    PyString::new(py, str::from_utf8(&digits).unwrap_or_default())
}
