package org.nearfold.core.text;

import java.util.Arrays;

/**
 * A growing list of code points whose memory is used again. Not safe for use by several threads.
 */
public final class CodePoints {

    private static final int[] NONE = {};

    private int[] codes = NONE;
    private int size;

    /** Returns the number of code points. */
    public int size() {
        return size;
    }

    /** Returns the code point at an index below {@link #size()}, which is not checked. */
    public int get(int index) {
        return codes[index];
    }

    void set(int index, int code) {
        codes[index] = code;
    }

    /** Adds a code point at the end. */
    public void add(int code) {
        if (size == codes.length) {
            reserve(1);
        }
        codes[size++] = code;
    }

    /** Makes room for {@code count} more code points. */
    void reserve(int count) {
        if (codes.length - size < count) {
            codes =
                    Arrays.copyOf(
                            codes, Math.max(size + count, codes.length + (codes.length >> 1) + 16));
        }
    }

    /** Sets the number of code points; what is beyond the old one was written to {@link #array}. */
    void resize(int length) {
        size = length;
    }

    /** Makes the list empty. */
    public void clear() {
        size = 0;
    }

    /** Frees the memory when there is room for more than {@code most} code points. */
    void release(int most) {
        size = 0;
        if (codes.length > most) {
            codes = NONE;
        }
    }

    /** Returns the array behind the list, which the next change may replace. */
    int[] array() {
        return codes;
    }
}
