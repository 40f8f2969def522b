package org.nearfold.core.sketch;

import java.util.Arrays;

/**
 * {@code distinct_v1}: the majority of each bit over the distinct feature hashes (Charikar, STOC
 * 2002).
 *
 * <p>A bit is set when strictly more than half of the hashes have it. Hashes are added eight at a
 * time by a tree of carry-save adders, in counters of which each holds one binary digit of 64
 * counts. Not safe for use by several threads.
 */
final class SimHash {

    private static final int DIGITS = 31;

    private final long[] counters = new long[DIGITS];

    /** Returns the 64 bits of a set of at least one feature hash. */
    long of(Longs features) {
        Arrays.fill(counters, 0);
        long[] hashes = features.array();
        int count = features.size();
        int whole = count & ~7;
        long ones = 0;
        long twos = 0;
        long fours = 0;
        for (int i = 0; i < whole; i += 8) {
            long a = hashes[i];
            long b = hashes[i + 1];
            long twosA = carry(ones, a, b);
            ones ^= a ^ b;
            a = hashes[i + 2];
            b = hashes[i + 3];
            long twosB = carry(ones, a, b);
            ones ^= a ^ b;
            long foursA = carry(twos, twosA, twosB);
            twos ^= twosA ^ twosB;
            a = hashes[i + 4];
            b = hashes[i + 5];
            twosA = carry(ones, a, b);
            ones ^= a ^ b;
            a = hashes[i + 6];
            b = hashes[i + 7];
            twosB = carry(ones, a, b);
            ones ^= a ^ b;
            long foursB = carry(twos, twosA, twosB);
            twos ^= twosA ^ twosB;
            add(carry(fours, foursA, foursB), 3);
            fours ^= foursA ^ foursB;
        }
        add(ones, 0);
        add(twos, 1);
        add(fours, 2);
        for (int i = whole; i < count; i++) {
            add(hashes[i], 0);
        }
        return moreThan(count / 2);
    }

    /** Returns the carry of a full adder. */
    private static long carry(long a, long b, long c) {
        return a & b | (a | b) & c;
    }

    /** Adds 64 bits, each to its count, at a binary digit. */
    private void add(long bits, int digit) {
        long carried = bits;
        for (int i = digit; carried != 0; i++) {
            long both = counters[i] & carried;
            counters[i] ^= carried;
            carried = both;
        }
    }

    /** Returns the bits whose count is above {@code limit}. */
    private long moreThan(int limit) {
        long more = 0;
        long equal = -1L;
        for (int i = DIGITS - 1; i >= 0; i--) {
            if ((limit >> i & 1) == 0) {
                more |= equal & counters[i];
                equal &= ~counters[i];
            } else {
                equal &= counters[i];
            }
        }
        return more;
    }
}
