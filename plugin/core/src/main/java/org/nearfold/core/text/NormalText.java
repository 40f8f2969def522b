package org.nearfold.core.text;

import java.util.Arrays;

/**
 * A normalised text, and what was counted on the way. {@link Normaliser} fills it; its memory is
 * used again.
 *
 * <p>Not safe for use by several threads.
 */
public final class NormalText {

    private static final byte[] NONE = {};

    final CodePoints codes = new CodePoints();
    final Symbols symbols = new Symbols();
    byte[] utf8 = NONE;
    int bytes;
    int words;
    boolean letters;
    boolean visible;

    /** Returns the code points. */
    public CodePoints codes() {
        return codes;
    }

    /** Returns the number of code points. */
    public int chars() {
        return codes.size();
    }

    /**
     * Returns the number of words: of the original text by {@code default_v1}, of this one by
     * {@code default_v2}.
     */
    public int words() {
        return words;
    }

    /** Returns whether there is more than numbers, punctuation, symbols and blanks. */
    public boolean hasLetters() {
        return letters;
    }

    /**
     * Returns the symbols of value of the original text, each followed by the number of words
     * before it; only by {@link Form#DEFAULT_V2_SYMBOLS}.
     */
    public String symbols() {
        return symbols.toString();
    }

    /** Returns whether there is anything but white space and controls. */
    public boolean isVisible() {
        return visible || words > 0;
    }

    /** Returns the array that begins with the {@link #utf8Length()} bytes of the text in UTF-8. */
    public byte[] utf8() {
        return utf8;
    }

    /** Returns the length of the text in UTF-8, in bytes. */
    public int utf8Length() {
        return bytes;
    }

    void clear() {
        codes.clear();
        symbols.clear();
        bytes = 0;
        words = 0;
        letters = false;
        visible = false;
    }

    /** Makes room for so many more code points of one byte each. */
    void reserve(int count) {
        codes.reserve(count);
        if (utf8.length - bytes < count) {
            utf8 = Arrays.copyOf(utf8, bytes + count + (bytes >> 1));
        }
    }

    /** Frees the memory when there is room for more than {@code most} code points. */
    public void release(int most) {
        codes.release(most);
        bytes = 0;
        if (utf8.length > most) {
            utf8 = NONE;
        }
    }

    /** Appends a code point that is no surrogate. */
    void append(int code) {
        codes.add(code);
        if (utf8.length - bytes < 4) {
            utf8 = Arrays.copyOf(utf8, bytes + (bytes >> 1) + 16);
        }
        if (code < 0x80) {
            utf8[bytes++] = (byte) code;
        } else if (code < 0x800) {
            utf8[bytes++] = (byte) (0xC0 | code >> 6);
            utf8[bytes++] = (byte) (0x80 | code & 0x3F);
        } else if (code < 0x10000) {
            utf8[bytes++] = (byte) (0xE0 | code >> 12);
            utf8[bytes++] = (byte) (0x80 | code >> 6 & 0x3F);
            utf8[bytes++] = (byte) (0x80 | code & 0x3F);
        } else {
            utf8[bytes++] = (byte) (0xF0 | code >> 18);
            utf8[bytes++] = (byte) (0x80 | code >> 12 & 0x3F);
            utf8[bytes++] = (byte) (0x80 | code >> 6 & 0x3F);
            utf8[bytes++] = (byte) (0x80 | code & 0x3F);
        }
    }
}
