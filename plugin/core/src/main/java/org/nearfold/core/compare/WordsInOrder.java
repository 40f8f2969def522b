package org.nearfold.core.compare;

import java.util.Arrays;

/**
 * The measure {@code lcs}: the longest common subsequence (LCS) of the words of two texts over the
 * words of the longer one, in [0, 1]. Where only one of the texts has accents, a word in order that
 * is the same without them counts {@link #WITHOUT_ACCENTS}.
 *
 * <p>The LCS is computed exactly by the bit-parallel algorithm of Hyyrö (AWOCA 2004), in memory that
 * grows with the lengths alone. An instance is not safe for use by several threads.
 */
public final class WordsInOrder {

    /**
     * Pairs of words beyond which two texts are not compared: it would take longer than a tenth of
     * a second.
     */
    public static final long MAX_CELLS = 1L << 32;

    /** What {@link #common} returns for texts of more than {@link #MAX_CELLS} pairs of words. */
    public static final int TOO_LONG = -1;

    /** What a word counts that is the same but for its accents. */
    public static final double WITHOUT_ACCENTS = 0.95;

    /** Words after which it is checked whether enough can still be in order. */
    private static final int CHECKED = 32;

    private final LeftText leftText = new LeftText();

    /** Of each word of the right text the index of the left text. */
    private int[] indices = {};

    /**
     * The blocks of 64 words of the left text that are compared: a bit is 0 where there is one more
     * word in order. In the last block those of {@code lastMask} count.
     */
    private long[] row = {};

    private int firstBlock;
    private int lastBlock;
    private long lastMask;

    /**
     * Returns the words of the LCS of two texts; 0 when they are fewer than {@code min}, {@link
     * #TOO_LONG} for texts that are too long to be compared.
     */
    public int common(Words left, Words right, int min) {
        return common(left.written(), right.written(), min);
    }

    private int common(int[] left, int[] right, int min) {
        int needed = Math.max(min, 1);
        if (Math.min(left.length, right.length) < needed) {
            return 0;
        }
        if (indices.length < right.length) {
            indices = new int[right.length + (right.length >> 2)];
        }
        leftText.set(left);
        int first = leftText.find(right, indices, needed);
        if (first == LeftText.TOO_FEW) {
            return 0;
        }
        if ((long) left.length * right.length > MAX_CELLS) {
            return TOO_LONG;
        }
        int length = lcs(left, right, first, needed);
        return length < needed ? 0 : length;
    }

    /**
     * Returns the similarity of two texts; it may be 0 when it is less than {@code min}, a negative
     * number for texts that are too long to be compared.
     */
    public double similarity(Words left, Words right, double min) {
        int longer = Math.max(left.size(), right.size());
        if (longer == 0) {
            return 0;
        }
        return counted(left, right, (int) Math.ceil(min * longer - 1e-9)) / longer;
    }

    /**
     * Returns the words of the LCS, those that are the same but for their accents in part; 0 when
     * they are fewer than {@code min} together, {@link #TOO_LONG} for texts that are too long.
     */
    private double counted(Words left, Words right, int min) {
        if (left.hasAccents() == right.hasAccents()) {
            return common(left, right, min);
        }
        int without = common(left.plain(), right.plain(), min);
        if (without <= 0) {
            return without;
        }
        int common = common(left, right, 0);
        return common + WITHOUT_ACCENTS * (without - common);
    }

    /**
     * Returns the words of the LCS; if they are fewer than {@code min}, any number below it.
     *
     * <p>Words of the right text that the left one lacks are passed over. In an LCS of {@code min}
     * words the positions of a word in the two texts differ by no more than the words that are left
     * out, so that only blocks of 64 words next to the diagonal are computed; and it ends once the
     * words to come that both texts have are too few.
     *
     * @param first where the indices of the words that both texts have begin
     */
    private int lcs(int[] left, int[] right, int first, int min) {
        int start = Arrays.mismatch(left, right);
        if (start < 0) {
            return left.length;
        }
        int leftEnd = left.length;
        int rightEnd = right.length;
        while (leftEnd > start && rightEnd > start && left[leftEnd - 1] == right[rightEnd - 1]) {
            leftEnd--;
            rightEnd--;
        }
        if (start == leftEnd) {
            return left.length;
        }
        begin(start, leftEnd);
        int outside = (firstBlock << 6) + left.length - leftEnd;
        int maxAhead = left.length - min;
        int maxBehind = right.length - first - min;
        int toCome = outside;
        for (int i = first + start; i < rightEnd; i++) {
            toCome += LeftText.isExcess(indices[i]) ? 0 : 1;
        }
        for (int i = first + start; i < rightEnd; i++) {
            boolean isChecked = (i - first - start & CHECKED - 1) == 0;
            if (isChecked && zeros() + toCome < min) {
                return 0;
            }
            toCome -= LeftText.isExcess(indices[i]) ? 0 : 1;
            int from = Math.max(firstBlock, i - first - maxBehind >> 6);
            int to = Math.min(lastBlock, i - first + maxAhead >> 6);
            int index = LeftText.index(indices[i]);
            if (leftText.isLong()) {
                advance(index, from, to);
            } else {
                advance(leftText.rows(), leftText.row(index), from, to);
            }
        }
        return outside + zeros();
    }

    /**
     * Begins a row for the words of the left text up to {@code end}, of which those before {@code
     * start} are in order.
     */
    private void begin(int start, int end) {
        firstBlock = start >> 6;
        lastBlock = end - 1 >> 6;
        lastMask = -1L >>> -end;
        if (row.length <= lastBlock) {
            row = new long[lastBlock + 1];
        }
        Arrays.fill(row, firstBlock, lastBlock + 1, -1L);
        row[firstBlock] = -1L << start;
    }

    /** Returns the words of the LCS of the blocks and the words applied so far. */
    private int zeros() {
        int zeros = Long.bitCount(~row[lastBlock] & lastMask);
        for (int block = firstBlock; block < lastBlock; block++) {
            zeros += Long.bitCount(~row[block]);
        }
        return zeros;
    }

    /**
     * Applies a word, whose bits in all blocks begin at an offset, to the blocks {@code from} to
     * {@code to} of the row. Nothing branches on where the word stands.
     */
    private void advance(long[] words, int offset, int from, int to) {
        long[] blocks = row;
        long carry = 0;
        for (int block = from; block <= to; block++) {
            long bits = blocks[block];
            long both = bits & words[offset + block];
            long sum = bits + both + carry;
            blocks[block] = sum | bits & ~both;
            carry = (both | bits & ~sum) >>> 63;
        }
    }

    /** Applies a word to the blocks {@code from} to {@code to} of the row, by its index. */
    private void advance(int index, int from, int to) {
        int entry = leftText.firstEntry(index, from);
        int end = leftText.end(index);
        boolean carries = false;
        int next = from;
        while (entry < end && leftText.block(entry) <= to) {
            int block = leftText.block(entry);
            while (carries && next < block) {
                carries = carry(next++);
            }
            carries = match(block, leftText.bits(entry++), carries);
            next = block + 1;
        }
        while (carries && next <= to) {
            carries = carry(next++);
        }
    }

    /** Applies a word to a block that may have it; returns whether the next block gets a carry. */
    private boolean match(int block, long matches, boolean carries) {
        long bits = row[block];
        long both = bits & matches;
        long sum = bits + both;
        long carried = carries ? sum + 1 : sum;
        row[block] = carried | bits & ~both;
        return Long.compareUnsigned(sum, bits) < 0 || carries && carried == 0;
    }

    /** Carries into a block without matches; returns whether the next block gets a carry. */
    private boolean carry(int block) {
        long bits = row[block];
        row[block] = bits | bits + 1;
        return bits == -1L;
    }
}
