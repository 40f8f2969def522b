package org.nearfold.core;

import org.nearfold.core.sketch.Keys;

import java.util.Base64;
import java.util.HexFormat;

/**
 * The fingerprint of one text by a {@link Recipe}.
 *
 * @param status what became of the text
 * @param minhash the slots, one byte each or four in big-endian order; null without MinHash, or
 *     keys
 * @param simhash the 64 bits; null without SimHash, or keys
 * @param bands keys of the MinHash
 * @param blocks keys of the SimHash
 * @param digest SHA-256 of the normalised text, 32 bytes
 * @param words the number of words
 * @param chars the number of code points of the normalised text
 */
public record Fingerprint(
        Status status,
        byte[] minhash,
        Long simhash,
        Keys bands,
        Keys blocks,
        byte[] digest,
        int words,
        int chars) {
    /** Characters of {@link #exact}: 96 bits. */
    public static final int EXACT_LENGTH = 16;

    /** Returns the digest as 64 hexadecimal digits. */
    public String hexDigest() {
        return HexFormat.of().formatHex(digest);
    }

    /**
     * Returns the first 96 bits of the digest in URL-safe base64: the beginning of what pipelines
     * store.
     */
    public String exact() {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(digest)
                .substring(0, EXACT_LENGTH);
    }

    /** Returns whether there are sketches and keys. */
    public boolean isSigned() {
        return minhash != null || simhash != null;
    }

    /** Returns the same fingerprint with another status. */
    public Fingerprint with(Status other) {
        return new Fingerprint(other, minhash, simhash, bands, blocks, digest, words, chars);
    }
}
