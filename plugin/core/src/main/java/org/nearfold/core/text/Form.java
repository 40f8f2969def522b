package org.nearfold.core.text;

/** What {@link Normaliser} makes of a text. */
public enum Form {
    /** {@code default_v1}: NFKC in lower case without white space and controls. */
    DEFAULT_V1,
    /**
     * {@code default_v2}: NFKC in lower case, words with one blank between them, hyphenated words
     * joined.
     */
    DEFAULT_V2,
    /** The same, and the symbols of value that it leaves out ({@link NormalText#symbols}). */
    DEFAULT_V2_SYMBOLS,
    /** NFKC in lower case without ignorable characters; white space and punctuation stay. */
    FOLDED,
    /** Without ignorable characters, otherwise as written. */
    VISIBLE,
    /** As written; only lone surrogates become U+FFFD. */
    VERBATIM
}
