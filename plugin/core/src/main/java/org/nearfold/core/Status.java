package org.nearfold.core;

import java.util.Locale;

/** What became of a text. */
public enum Status {
    /** Read whole, with sketch and keys. */
    COMPLETE,
    /** With sketch and keys of its beginning: the text is longer than the limit. */
    TRUNCATED,
    /** Without a visible character; no keys. */
    EMPTY,
    /** Too few features; no keys, matches by its digest only. */
    TOO_SHORT,
    /** Without letters; keys only if the features are words and there are enough. */
    NUMBERS_ONLY,
    /** Fingerprinting failed; no keys. */
    UNSIGNED;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns the status as indices store it, such as {@code too_short}. */
    public String label() {
        return label;
    }
}
