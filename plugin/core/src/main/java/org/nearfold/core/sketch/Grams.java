package org.nearfold.core.sketch;

import org.nearfold.core.text.CodePoints;
import org.nearfold.core.text.NormalText;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * {@code chars_v1}: the distinct runs of so many code points, hashed by {@code gram64_v1}; under a
 * key by {@code sip24_v1}. Not safe for use by several threads.
 */
final class Grams implements Features {

    private static final long MULTIPLIER = 0xD1342543DE82EF95L;
    private static final int CODE_BITS = 21;

    /** Code points that are packed in one number. */
    private static final int PACKED = 3;

    private final int width;
    private final Longs hashes = new Longs();

    /**
     * Where a hash stands depends on it, so that nobody can write a text whose hashes all collide.
     */
    private final long factor = ThreadLocalRandom.current().nextLong() | 1;

    private long[] table = {};

    /** Takes the number of code points of a run, 4 to 6. */
    Grams(int width) {
        this.width = width;
    }

    @Override
    public Longs read(NormalText text, SipHash key) {
        readAll(text, key);
        removeRepeats();
        return hashes;
    }

    @Override
    public void release(int most) {
        hashes.release(most);
        if (table.length > 4 * (long) most) {
            table = new long[0];
        }
    }

    /**
     * Lists the hashes of all runs; {@code first} has the first three code points of one, {@code
     * second} the rest.
     */
    private void readAll(NormalText text, SipHash key) {
        CodePoints codes = text.codes();
        int count = Math.max(0, codes.size() - width + 1);
        hashes.clear(count);
        hashes.resize(count);
        if (count == 0) {
            return;
        }
        long[] all = hashes.array();
        long first = 0;
        long second = 0;
        for (int i = PACKED - 1; i >= 0; i--) {
            first = first << CODE_BITS | codes.get(i);
        }
        for (int i = width - 1; i >= PACKED; i--) {
            second = second << CODE_BITS | codes.get(i);
        }
        int lastShift = CODE_BITS * (width - PACKED - 1);
        for (int i = 0; ; i++) {
            all[i] =
                    key == null
                            ? Mix64.mix(first + MULTIPLIER * second + Mix64.GAMMA)
                            : key.hash(first, second);
            if (i + 1 == count) {
                return;
            }
            first = first >>> CODE_BITS | (long) codes.get(i + PACKED) << CODE_BITS * (PACKED - 1);
            second = second >>> CODE_BITS | (long) codes.get(i + width) << lastShift;
        }
    }

    /**
     * Leaves one of each hash in the list, by open addressing; 0 marks a free place of the table.
     */
    private void removeRepeats() {
        int count = hashes.size();
        int size = Math.max(16, Integer.highestOneBit(Math.max(1, count)) << 2);
        if (table.length < size) {
            table = new long[size];
        } else {
            Arrays.fill(table, 0, size, 0);
        }
        int shift = Long.numberOfLeadingZeros(size) + 1;
        long[] all = hashes.array();
        boolean hasZero = false;
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            long hash = all[i];
            boolean isNew = hash == 0 ? hasZero == false : insert(hash, shift, size - 1);
            hasZero |= hash == 0;
            all[distinct] = hash;
            distinct += isNew ? 1 : 0;
        }
        hashes.resize(distinct);
    }

    /** Returns whether a hash was not in the table, where it is then. */
    private boolean insert(long hash, int shift, int mask) {
        int place = (int) (hash * factor >>> shift);
        while (table[place] != hash) {
            if (table[place] == 0) {
                table[place] = hash;
                return true;
            }
            place = place + 1 & mask;
        }
        return false;
    }
}
