package org.nearfold.core.compare;

import java.util.Arrays;

/**
 * Where the words of one text stand, so that it can be compared with one text after the other.
 *
 * <p>Its different words have indices. Of each there are the bits of its positions in all blocks of
 * 64, or, of a long text, a list of the blocks that have it. Not safe for use by several threads.
 */
final class LeftText {

    /** The index of a word that the text lacks. */
    private static final int NONE = -1;

    /** What {@link #find} returns for texts that have too little in common. */
    static final int TOO_FEW = -1;

    private static final int EXCESS = 1 << 30;

    /** The bits of all words in all blocks are kept up to so many blocks: 256 KiB. */
    private static final int MAX_ROWS = 1 << 15;

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

    /** The bits of each word in all blocks, one word after the other, if the text is not long. */
    private long[] rows = {};

    private int rowLength;
    private boolean isLong;

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
        rowLength = words.length + 63 >> 6;
        isLong = (long) size * rowLength > MAX_ROWS;
        if (isLong) {
            fillLists(indices);
        } else {
            fillRows(indices);
        }
    }

    private void fillRows(int[] indices) {
        if (rows.length < size * rowLength) {
            rows = new long[size * rowLength];
        } else {
            Arrays.fill(rows, 0, size * rowLength, 0);
        }
        for (int i = 0; i < indices.length; i++) {
            rows[indices[i] * rowLength + (i >> 6)] |= 1L << i;
        }
    }

    private void fillLists(int[] indices) {
        if (blocks.length < indices.length) {
            blocks = new int[indices.length];
            bits = new long[indices.length];
        }
        int start = 0;
        for (int index = 0; index < size; index++) {
            starts[index] = start;
            ends[index] = start;
            start += counts[index];
        }
        for (int i = 0; i < indices.length; i++) {
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
     * Writes the indices of those words of another text that this one has to the end of {@code
     * indices}, and returns where they begin. A word that the rest of the text has as often as this
     * one is marked as one in {@link #isExcess excess}.
     *
     * @param min how many words both texts have in common, each as often as both have it; {@link
     *     #TOO_FEW} is returned if there are fewer
     */
    int find(int[] other, int[] indices, int min) {
        System.arraycopy(counts, 0, left, 0, size);
        int spare = other.length - min;
        int start = other.length;
        for (int i = other.length - 1; i >= 0; i--) {
            int index = table[slot(other[i])] - 1;
            boolean isShared = index != NONE && left[index]-- > 0;
            if (!isShared && --spare < 0) {
                return TOO_FEW;
            }
            if (index != NONE) {
                indices[--start] = isShared ? index : index | EXCESS;
            }
        }
        return start;
    }

    /** Returns whether an index is marked: the words after it suffice for those of this text. */
    static boolean isExcess(int marked) {
        return (marked & EXCESS) != 0;
    }

    /** Returns an index without its mark. */
    static int index(int marked) {
        return marked & ~EXCESS;
    }

    /** Returns whether the words have lists of blocks, and no rows. */
    boolean isLong() {
        return isLong;
    }

    /** Returns the array with the bits of the words in all blocks. */
    long[] rows() {
        return rows;
    }

    /** Returns the offset of the word of an index in {@link #rows}. */
    int row(int index) {
        return index * rowLength;
    }

    /** Returns the first entry of the word of an index whose block is {@code from} or later. */
    int firstEntry(int index, int from) {
        int entry = starts[index];
        while (entry < ends[index] && blocks[entry] < from) {
            entry++;
        }
        return entry;
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
