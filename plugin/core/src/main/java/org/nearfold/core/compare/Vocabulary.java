package org.nearfold.core.compare;

import org.nearfold.core.text.Accents;
import org.nearfold.core.text.CodePoints;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Numbers words, equal ones alike, so that texts can be compared as numbers. Not safe for use by
 * several threads.
 */
final class Vocabulary {

    private static final long MULTIPLIER = 0xD1342543DE82EF95L;

    /** Random, so that nobody can write words that all collide. */
    private final long seed = ThreadLocalRandom.current().nextLong() | 1;

    /** The number of a word and one, by open addressing; 0 marks a free place. */
    private int[] table = new int[1 << 10];

    private long[] hashes = new long[1 << 8];

    /** Where the code points of each word begin in {@link #letters}. */
    private int[] starts = new int[(1 << 8) + 1];

    private int[] letters = new int[1 << 11];
    private int size;

    /** The word without accents of each of the first {@link #known} words. */
    private int[] plain = {};

    private boolean[] accented = {};
    private int known;
    private final CodePoints spelling = new CodePoints();

    /** Returns how many words have numbers; the numbers are from 0 to below it. */
    int size() {
        return size;
    }

    /** Returns the number of the word from {@code start} to before {@code end}. */
    int number(CodePoints codes, int start, int end) {
        long hash = seed;
        for (int i = start; i < end; i++) {
            hash = (hash ^ codes.get(i)) * MULTIPLIER;
            hash ^= hash >>> 32;
        }
        int place = (int) hash & table.length - 1;
        while (table[place] != 0) {
            int number = table[place] - 1;
            if (hashes[number] == hash && isEqual(number, codes, start, end)) {
                return number;
            }
            place = place + 1 & table.length - 1;
        }
        add(hash, codes, start, end);
        table[place] = size;
        if (2 * size > table.length) {
            grow();
        }
        return size - 1;
    }

    /** Returns the number of a word without its accents. */
    int plain(int number) {
        learn();
        return plain[number];
    }

    /** Returns whether a letter of a word has an accent. */
    boolean isAccented(int number) {
        learn();
        return accented[number];
    }

    /** Numbers the words without accents of words that came since the last time. */
    private void learn() {
        while (known < size) {
            if (known == plain.length) {
                plain = Arrays.copyOf(plain, hashes.length);
                accented = Arrays.copyOf(accented, hashes.length);
            }
            boolean isAccented = false;
            spelling.clear();
            for (int i = starts[known]; i < starts[known + 1]; i++) {
                isAccented |= Accents.isAccented(letters[i]);
                if (!Accents.isAlone(letters[i])) {
                    spelling.add(Accents.without(letters[i]));
                }
            }
            accented[known] = isAccented;
            plain[known] = number(spelling, 0, spelling.size());
            known++;
        }
    }

    private boolean isEqual(int number, CodePoints codes, int start, int end) {
        int first = starts[number];
        if (starts[number + 1] - first != end - start) {
            return false;
        }
        for (int i = start; i < end; i++) {
            if (letters[first + i - start] != codes.get(i)) {
                return false;
            }
        }
        return true;
    }

    private void add(long hash, CodePoints codes, int start, int end) {
        if (size == hashes.length) {
            hashes = Arrays.copyOf(hashes, 2 * size);
            starts = Arrays.copyOf(starts, 2 * size + 1);
        }
        int first = starts[size];
        int last = first + end - start;
        if (last > letters.length) {
            letters = Arrays.copyOf(letters, Math.max(last, 2 * letters.length));
        }
        for (int i = start; i < end; i++) {
            letters[first + i - start] = codes.get(i);
        }
        hashes[size++] = hash;
        starts[size] = last;
    }

    private void grow() {
        table = new int[2 * table.length];
        for (int number = 0; number < size; number++) {
            int place = (int) hashes[number] & table.length - 1;
            while (table[place] != 0) {
                place = place + 1 & table.length - 1;
            }
            table[place] = number + 1;
        }
    }
}
