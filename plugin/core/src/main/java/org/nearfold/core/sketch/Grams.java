package org.nearfold.core.sketch;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.nearfold.core.text.CodePoints;
import org.nearfold.core.text.NormalText;

/**
 * {@code chars_v1}: the distinct runs of so many code points, hashed by {@code gram64_v1}; under a key by
 * {@code sip24_v1}. Not safe for use by several threads.
 */
final class Grams implements Features {

    private static final long MULTIPLIER = 0xD1342543DE82EF95L;
    private static final int CODE_BITS = 21;

    private final int width;
    private final Longs distinct = new Longs();
    /** Where a hash stands depends on it, so that nobody can write a text whose hashes all collide. */
    private final long factor = ThreadLocalRandom.current().nextLong() | 1;
    private long[] table = {};

    /** Takes the number of code points of a run, 1 to 6. */
    Grams(int width) {
        this.width = width;
    }

    @Override
    public Longs read(NormalText text, SipHash key) {
        CodePoints codes = text.codes();
        int count = Math.max(0, codes.size() - width + 1);
        distinct.clear(count);
        int size = Math.max(16, Integer.highestOneBit(Math.max(1, count)) << 2);
        if (table.length < size) {
            table = new long[size];
        } else {
            Arrays.fill(table, 0, size, 0);
        }
        int shift = Long.numberOfLeadingZeros(size) + 1;
        boolean hasZero = false;
        for (int i = 0; i < count; i++) {
            long first = pack(codes, i, Math.min(width, 3));
            long second = pack(codes, i + 3, width - 3);
            long hash = key == null ? Mix64.mix(first + MULTIPLIER * second + Mix64.GAMMA) : key.hash(first, second);
            if (hash != 0) {
                insert(hash, shift, size - 1);
            } else if (hasZero == false) {
                hasZero = true;
                distinct.add(0);
            }
        }
        return distinct;
    }

    @Override
    public void release(int most) {
        distinct.release(most);
        if (table.length > 4 * (long) most) {
            table = new long[0];
        }
    }

    private void insert(long hash, int shift, int mask) {
        int place = (int) (hash * factor >>> shift);
        while (table[place] != hash) {
            if (table[place] == 0) {
                table[place] = hash;
                distinct.add(hash);
                return;
            }
            place = place + 1 & mask;
        }
    }

    /** Returns up to three code points from {@code start} on in one number, each of 21 bits. */
    private static long pack(CodePoints codes, int start, int count) {
        long packed = 0;
        for (int i = count - 1; i >= 0; i--) {
            packed = packed << CODE_BITS | codes.get(start + i);
        }
        return packed;
    }
}
