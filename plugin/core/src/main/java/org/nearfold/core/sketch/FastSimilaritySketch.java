package org.nearfold.core.sketch;

import java.util.Arrays;

/**
 * {@code fss_v1}: MinHash by Fast Similarity Sketching (Dahlgaard, Knudsen &amp; Thorup, FOCS
 * 2017).
 *
 * <p>Equal slots of two sketches estimate the Jaccard similarity of their feature sets without
 * bias. Not safe for use by several threads.
 */
final class FastSimilaritySketch {

    private static final long LOW = 0xFFFFFFFFL;

    /** Above every value of a slot: those have the round in their high half. */
    private static final long EMPTY = Long.MAX_VALUE;

    private final long[] taken;

    FastSimilaritySketch(int slots) {
        taken = new long[slots];
    }

    /**
     * Returns the slots of a set of at least one feature hash, each an unsigned number of 32 bits;
     * the next call replaces them.
     */
    long[] sketch(Longs features) {
        int slots = taken.length;
        long[] hashes = features.array();
        int count = features.size();
        Arrays.fill(taken, EMPTY);
        for (int i = 0; i < count; i++) {
            put(hashes[i], 0);
        }
        int empty = 0;
        for (int round = 1; round < 2 * slots; round++) {
            while (empty < slots && taken[empty] != EMPTY) {
                empty++;
            }
            if (empty == slots) {
                break;
            }
            if (round < slots) {
                play(hashes, count, round);
            } else if (taken[round - slots] == EMPTY) {
                taken[round - slots] = least(hashes, count, round);
            }
        }
        for (int slot = 0; slot < slots; slot++) {
            taken[slot] &= LOW;
        }
        return taken;
    }

    private void play(long[] hashes, int count, int round) {
        long shift = round * Mix64.GAMMA;
        long mark = (long) round << 32;
        for (int i = 0; i < count; i++) {
            put(Mix64.mix(hashes[i] + shift), mark);
        }
    }

    private void put(long value, long mark) {
        int slot = (int) ((value >>> 32) * taken.length >>> 32);
        long low = mark | value & LOW;
        if (low < taken[slot]) {
            taken[slot] = low;
        }
    }

    private static long least(long[] hashes, int count, int round) {
        long shift = round * Mix64.GAMMA;
        long least = EMPTY;
        for (int i = 0; i < count; i++) {
            least = Math.min(least, Mix64.mix(hashes[i] + shift) & LOW);
        }
        return least;
    }
}
