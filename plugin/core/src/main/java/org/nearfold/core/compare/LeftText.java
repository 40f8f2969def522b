package org.nearfold.core.compare;

import java.util.Arrays;

/**
 * Where the words of one text stand, so that it can be compared with one text after the other.
 *
 * <p>Its different words have indices. Of each there is a list of the blocks of 64 positions that
 * have it, each with the bits of its positions there. Not safe for use by several threads.
 */
final class LeftText {

    /** The index of a word that the text lacks. */
    private static final int NONE = -1;

    private int[] words = {};

    /** The index of a word and one, by open addressing; 0 marks a free slot. */
    private int[] table = new int[1 << 4];

    /** By the index of a word: its number, how often it is there, and its entries below. */
    private int[] numbers = {};

    private int[] counts = {};
    private int[] starts = {};
    private int[] ends = {};
    private int size;

    /** How often each word is there in excess of those counted in another text. */
    private int[] left = {};

    private int[] blocks = {};
    private long[] bits = {};

    /** Takes a text, which must not change. */
    void set(int[] newWords) {
        if (words == newWords) {
            return;
        }
        words = newWords;
        size = 0;
        reserve(words.length);
        int[] indices = new int[words.length];
        for (int i = 0; i < words.length; i++) {
            indices[i] = add(words[i]);
            counts[indices[i]]++;
        }
        int start = 0;
        for (int index = 0; index < size; index++) {
            starts[index] = start;
            ends[index] = start;
            start += counts[index];
        }
        for (int i = 0; i < words.length; i++) {
            place(indices[i], i);
        }
    }

    private void reserve(int length) {
        int slots = Integer.highestOneBit(Math.max(8, length)) << 2;
        if (table.length < slots) {
            table = new int[slots];
        } else {
            Arrays.fill(table, 0);
        }
        if (numbers.length < length) {
            numbers = new int[length];
            counts = new int[length];
            starts = new int[length];
            ends = new int[length];
            left = new int[length];
            blocks = new int[length];
            bits = new long[length];
        }
    }

    /** Returns the index of a word of the text, a new one if it is new. */
    private int add(int number) {
        int slot = slot(number);
        if (table[slot] == 0) {
            numbers[size] = number;
            counts[size] = 0;
            table[slot] = ++size;
        }
        return table[slot] - 1;
    }

    /** Returns the slot of a number, or the free one where it would be. */
    private int slot(int number) {
        int slot = number & table.length - 1;
        while (table[slot] != 0 && numbers[table[slot] - 1] != number) {
            slot = slot + 1 & table.length - 1;
        }
        return slot;
    }

    private void place(int index, int position) {
        int block = position >> 6;
        int entry = ends[index] - 1;
        if (entry < starts[index] || blocks[entry] != block) {
            entry = ends[index]++;
            blocks[entry] = block;
            bits[entry] = 0;
        }
        bits[entry] |= 1L << position;
    }

    /**
     * Writes the indices of the words of another text, and returns how many words both texts have,
     * each as often as both have it; any number below {@code min} if they are fewer.
     */
    int shared(int[] other, int[] indices, int min) {
        System.arraycopy(counts, 0, left, 0, size);
        int spare = other.length - min;
        int shared = 0;
        for (int i = 0; i < other.length; i++) {
            int index = table[slot(other[i])] - 1;
            indices[i] = index;
            if (index != NONE && left[index] > 0) {
                left[index]--;
                shared++;
            } else if (--spare < 0) {
                return 0;
            }
        }
        return shared;
    }

    /** Returns whether an index is that of a word that the text lacks. */
    static boolean isUnknown(int index) {
        return index == NONE;
    }

    /** Returns how many of the words of a run, given by their indices, the text has. */
    static int known(int[] indices, int start, int end) {
        int known = 0;
        for (int i = start; i < end; i++) {
            known += indices[i] == NONE ? 0 : 1;
        }
        return known;
    }

    /** Returns the first entry of the word of an index. */
    int start(int index) {
        return starts[index];
    }

    /** Returns the entry after the last one of the word of an index. */
    int end(int index) {
        return ends[index];
    }

    /** Returns the block of an entry. */
    int block(int entry) {
        return blocks[entry];
    }

    /** Returns the positions of the word in the block of an entry, as bits. */
    long bits(int entry) {
        return bits[entry];
    }
}
