package org.nearfold.lucene;

import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.WordsInOrder;

import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Folds a ranking: a hit joins the most similar earlier hit that is not folded itself, if their
 * similarity reaches a threshold; ties go to the better hit.
 *
 * <p>For {@link Measure#LCS} slots exclude, and texts decide what is left. Copies are folded by
 * their digests. An instance folds once; it is not safe for use by several threads.
 */
public final class GreedyFold {

    /** Marks a hit that is not folded. */
    public static final int SHOWN = -1;

    private static final int BITS = 64;
    private static final long LOW = 0xFFFFFFFFL;

    /** Reads the text of a hit by its rank; null where there is none. */
    @FunctionalInterface
    public interface Texts {
        String read(int rank) throws IOException;
    }

    private final Recipe recipe;
    private final Measure measure;
    private final double min;
    private final WindowSketches sketches;
    private final int fewest;
    private final WordsInOrder comparison = new WordsInOrder();
    private final int[][] words;
    private final int[] representatives;
    private final float[] similarities;

    /** Candidates of a hit by equal parts and, inverted, rank. */
    private final long[] order;

    /**
     * Prepares to fold.
     *
     * @param min the minimum similarity of folded hits, above 0 and at most 1
     */
    public GreedyFold(Recipe recipe, Measure measure, double min, WindowSketches sketches) {
        this.recipe = recipe;
        this.measure = measure;
        this.min = min;
        this.sketches = sketches;
        words = new int[sketches.size()][];
        representatives = new int[sketches.size()];
        similarities = new float[sketches.size()];
        order = new long[sketches.size()];
        fewest =
                switch (measure) {
                    case HAMMING -> (int) Math.ceil(min * BITS - 1e-9);
                    case SLOTS -> Slots.fewestEqual(recipe, min);
                    case LCS -> SlotBounds.fewestEqual(recipe, min);
                };
    }

    /** Folds all hits. {@code cancellation} throws when the request was cancelled. */
    public void fold(Texts texts, Runnable cancellation) throws IOException {
        int[] shown = new int[sketches.size()];
        int groups = 0;
        for (int rank = 0; rank < sketches.size(); rank++) {
            cancellation.run();
            representatives[rank] = SHOWN;
            if (joinCopy(rank, shown, groups) == false) {
                joinSimilar(rank, shown, groups, texts);
            }
            if (representatives[rank] == SHOWN) {
                shown[groups++] = rank;
            }
        }
    }

    /**
     * Folds a hit under the best shown one with the same text, if there is one; returns whether
     * there is.
     */
    private boolean joinCopy(int rank, int[] shown, int groups) {
        for (int i = 0; i < groups; i++) {
            if (sketches.isCopy(rank, shown[i])) {
                representatives[rank] = shown[i];
                similarities[rank] = 1;
                return true;
            }
        }
        return false;
    }

    /**
     * Folds a hit under the most similar shown one, if any reaches the threshold. Those with the
     * most equal slots or bits are compared first: most others can then be ruled out by the number
     * of words that they share.
     */
    private void joinSimilar(int rank, int[] shown, int groups, Texts texts) throws IOException {
        if (sketches.isKnown(rank) == false) {
            return;
        }
        int candidates = 0;
        for (int i = 0; i < groups; i++) {
            int equal = sketches.isKnown(shown[i]) ? equalParts(rank, shown[i]) : 0;
            if (equal >= fewest && equal > 0) {
                order[candidates++] = (long) equal << 32 | ~shown[i] & LOW;
            }
        }
        Arrays.sort(order, 0, candidates);
        double best = 0;
        for (int i = candidates - 1; i >= 0; i--) {
            int other = ~(int) order[i];
            double similarity =
                    similarity((int) (order[i] >>> 32), rank, other, Math.max(min, best), texts);
            boolean isBetter =
                    similarity > best || similarity == best && other < representatives[rank];
            if (similarity >= min - 1e-9 && isBetter) {
                representatives[rank] = other;
                best = similarity;
            }
        }
        similarities[rank] = (float) best;
    }

    /** Returns the rank of the hit that a hit is folded under, or {@link #SHOWN}. */
    public int representative(int rank) {
        return representatives[rank];
    }

    /** Returns the similarity of a folded hit to the one that it is folded under. */
    public float similarity(int rank) {
        return similarities[rank];
    }

    /** Returns the ranks of the hits whose texts {@link #fold} may read. */
    public BitSet textsNeeded() {
        BitSet needed = new BitSet();
        if (measure != Measure.LCS) {
            return needed;
        }
        for (int right = 1; right < sketches.size(); right++) {
            for (int left = 0; left < right; left++) {
                boolean isKnown = sketches.isKnown(left) && sketches.isKnown(right);
                if (isKnown
                        && sketches.isCopy(left, right) == false
                        && equalParts(left, right) >= fewest) {
                    needed.set(left);
                    needed.set(right);
                }
            }
        }
        return needed;
    }

    /**
     * Returns the similarity of two hits with so many equal parts; it may be 0 when it is less than
     * {@code least}.
     */
    private double similarity(int equal, int left, int right, double least, Texts texts)
            throws IOException {
        return switch (measure) {
            case HAMMING -> (double) equal / BITS;
            case SLOTS -> Slots.similarity(recipe, equal);
            case LCS -> comparison.similarity(words(left, texts), words(right, texts), least);
        };
    }

    /**
     * Returns the equal slots of two sketches, or bits, or any smaller number when they are too
     * few.
     */
    private int equalParts(int left, int right) {
        byte[] bytes = sketches.bytes();
        int leftStart = sketches.start(left);
        int rightStart = sketches.start(right);
        if (measure == Measure.HAMMING) {
            return BITS
                    - Long.bitCount(
                            Verifiers.bits(bytes, leftStart) ^ Verifiers.bits(bytes, rightStart));
        }
        return Slots.equal(recipe, bytes, leftStart, bytes, rightStart, fewest);
    }

    private int[] words(int rank, Texts texts) throws IOException {
        if (words[rank] == null) {
            String text = texts.read(rank);
            words[rank] = comparison.read(text == null ? "" : text);
        }
        return words[rank];
    }
}
