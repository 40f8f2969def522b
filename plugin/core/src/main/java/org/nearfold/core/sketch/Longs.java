package org.nearfold.core.sketch;

import java.util.Arrays;

/**
 * A growing list of 64-bit hashes whose memory is used again. Not safe for use by several threads.
 */
final class Longs {

    private static final long[] NONE = {};

    private long[] values = NONE;
    private int size;

    int size() {
        return size;
    }

    long get(int index) {
        return values[index];
    }

    void set(int index, long value) {
        values[index] = value;
    }

    void add(long value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, size + (size >> 1) + 16);
        }
        values[size++] = value;
    }

    /** Empties the list and makes room for {@code count} values. */
    void clear(int count) {
        size = 0;
        if (values.length < count) {
            values = new long[count + (count >> 2)];
        }
    }

    /** Sets the number of values; the room must be there. */
    void resize(int count) {
        size = count;
    }

    /** Frees the memory when there is room for more than {@code most} values. */
    void release(int most) {
        size = 0;
        if (values.length > most) {
            values = NONE;
        }
    }

    /** Returns the array behind the list, which the next change may replace. */
    long[] array() {
        return values;
    }
}
