//! Fingerprints of texts, bit for bit as the numpy definition in `indexer/fingerprinting/` has them.

mod ascii;
mod codepoints;
mod distinct;
mod grams;
pub mod in_order;
pub mod keys;
#[cfg(target_arch = "x86_64")]
mod letters;
pub mod maps;
mod minhash;
pub mod normalise;
mod processor;
#[cfg(feature = "extension")]
mod python;
pub mod runs;
mod separate;
pub mod signer;
mod simhash;
pub mod siphash;
pub mod slots;
pub mod spelled;
pub mod symbols;
#[allow(clippy::unreadable_literal)]
mod unicode13;
mod words;
