package org.nearfold.core.compare;

import org.nearfold.core.text.CodePoints;
import org.nearfold.core.text.Form;
import org.nearfold.core.text.NormalText;
import org.nearfold.core.text.Normaliser;
import org.nearfold.core.text.Unicode13;

import java.util.Arrays;

/**
 * The measure {@code lcs}: the longest common subsequence (LCS) of the words of two texts over the
 * words of the longer one, in [0, 1]. Where only one of the texts has accents, a word in order that
 * is the same without them counts {@link #WITHOUT_ACCENTS}.
 *
 * <p>Words are those of {@code default_v2}, under every recipe. The LCS is computed exactly by the
 * bit-parallel algorithm of Hyyrö (AWOCA 2004), in memory that grows with the lengths alone. An
 * instance compares texts that it read itself; it is not safe for use by several threads.
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

    private static final int NONE = -1;

    private final Normaliser normaliser = new Normaliser();
    private final NormalText normal = new NormalText();
    private final Vocabulary vocabulary = new Vocabulary();

    /**
     * The last position of each word in the left text, and of each position the one before of the
     * same word.
     */
    private int[] last = {};

    private int[] before = {};
    private int[] counts = {};
    private long[] row = {};
    private long[] matches = {};

    /** Returns the words of a text as numbers, equal ones alike for all texts of this instance. */
    public int[] read(String text) {
        normaliser.normalise(text, Form.DEFAULT_V2, normal);
        CodePoints codes = normal.codes();
        int[] words = new int[normal.words()];
        int size = 0;
        int start = 0;
        for (int i = 0; i < codes.size(); i++) {
            boolean isUnspaced = Unicode13.isUnspaced(codes.get(i));
            if (isUnspaced || codes.get(i) == ' ') {
                if (i > start) {
                    words[size++] = vocabulary.number(codes, start, i);
                }
                if (isUnspaced) {
                    words[size++] = vocabulary.number(codes, i, i + 1);
                }
                start = i + 1;
            }
        }
        if (codes.size() > start) {
            words[size++] = vocabulary.number(codes, start, codes.size());
        }
        return words;
    }

    /**
     * Returns the words of the LCS of two texts; 0 when they are fewer than {@code min}, {@link
     * #TOO_LONG} for texts that are too long to be compared.
     */
    public int common(int[] left, int[] right, int min) {
        int needed = Math.max(min, 1);
        if (Math.min(left.length, right.length) < needed || shared(left, right) < needed) {
            return 0;
        }
        if ((long) left.length * right.length > MAX_CELLS) {
            return TOO_LONG;
        }
        int length = lcs(left, right, needed);
        return length < needed ? 0 : length;
    }

    /**
     * Returns the similarity of two texts; it may be 0 when it is less than {@code min}, a negative
     * number for texts that are too long to be compared.
     */
    public double similarity(int[] left, int[] right, double min) {
        int longer = Math.max(left.length, right.length);
        if (longer == 0) {
            return 0;
        }
        return counted(left, right, (int) Math.ceil(min * longer - 1e-9)) / longer;
    }

    /**
     * Returns the words of the LCS, those that are the same but for their accents in part; 0 when
     * they are fewer than {@code min} together, {@link #TOO_LONG} for texts that are too long.
     */
    private double counted(int[] left, int[] right, int min) {
        if (hasAccents(left) == hasAccents(right)) {
            return common(left, right, min);
        }
        int without = common(plain(left), plain(right), min);
        if (without <= 0) {
            return without;
        }
        int common = common(left, right, 0);
        return common + WITHOUT_ACCENTS * (without - common);
    }

    private boolean hasAccents(int[] words) {
        for (int word : words) {
            if (vocabulary.isAccented(word)) {
                return true;
            }
        }
        return false;
    }

    private int[] plain(int[] words) {
        return Arrays.stream(words).map(vocabulary::plain).toArray();
    }

    /** Returns the words that both texts have, each as often as both have it. */
    private int shared(int[] left, int[] right) {
        if (counts.length < vocabulary.size()) {
            counts = new int[vocabulary.size() + (vocabulary.size() >> 1)];
        }
        for (int word : left) {
            counts[word]++;
        }
        int shared = 0;
        for (int word : right) {
            if (counts[word] > 0) {
                counts[word]--;
                shared++;
            }
        }
        for (int word : left) {
            counts[word] = 0;
        }
        return shared;
    }

    /**
     * Returns the words of the LCS; if they are fewer than {@code min}, any number below it.
     *
     * <p>In an LCS of {@code min} words the positions of a word in the two texts differ by no more
     * than the words that are left out, so that only blocks of 64 words next to the diagonal are
     * computed; and it ends as soon as the words to come are too few.
     */
    private int lcs(int[] left, int[] right, int min) {
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
        int outside = start + left.length - leftEnd;
        int size = leftEnd - start;
        int blocks = size + 63 >> 6;
        int maxAhead = left.length - min;
        int maxBehind = right.length - min;
        prepare(left, start, leftEnd, blocks);
        for (int i = start; i < rightEnd; i++) {
            boolean isChecked = (i - start & Long.SIZE - 1) == 0;
            if (isChecked && outside + zeros(blocks) + rightEnd - i < min) {
                return 0;
            }
            int first = last[right[i]];
            if (first == NONE) {
                continue;
            }
            for (int place = first; place != NONE; place = before[place]) {
                matches[place >> 6] |= 1L << place;
            }
            int firstBlock = Math.max(0, i - start - maxBehind) >> 6;
            int lastBlock = Math.min(size - 1, i - start + maxAhead) >> 6;
            advance(firstBlock, Math.min(lastBlock + 1, blocks));
            for (int place = first; place != NONE; place = before[place]) {
                matches[place >> 6] = 0;
            }
        }
        return outside + zeros(blocks);
    }

    /** Returns the words of the LCS of the left text and the words applied so far. */
    private int zeros(int blocks) {
        int zeros = 0;
        for (int block = 0; block < blocks; block++) {
            zeros += Long.bitCount(~row[block]);
        }
        return zeros;
    }

    /** Lists the positions of each word of the left text, and begins an empty row. */
    private void prepare(int[] left, int start, int end, int blocks) {
        if (last.length < vocabulary.size()) {
            last = new int[vocabulary.size() + (vocabulary.size() >> 1)];
        }
        if (before.length < end - start) {
            before = new int[end - start];
        }
        if (row.length < blocks) {
            row = new long[blocks];
            matches = new long[blocks];
        }
        Arrays.fill(last, 0, vocabulary.size(), NONE);
        Arrays.fill(row, 0, blocks, -1L);
        for (int i = start; i < end; i++) {
            before[i - start] = last[left[i]];
            last[left[i]] = i - start;
        }
    }

    /** Applies one word of the right text to the blocks of the row before {@code end}. */
    private void advance(int start, int end) {
        long carry = 0;
        for (int block = start; block < end; block++) {
            long bits = row[block];
            long both = bits & matches[block];
            long sum = bits + both;
            long over = Long.compareUnsigned(sum, bits) < 0 ? 1 : 0;
            long carried = sum + carry;
            over |= carry != 0 && carried == 0 ? 1 : 0;
            row[block] = carried | bits & ~both;
            carry = over;
        }
    }
}
