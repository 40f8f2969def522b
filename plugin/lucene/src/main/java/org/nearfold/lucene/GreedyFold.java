package org.nearfold.lucene;

import java.io.IOException;
import java.util.BitSet;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.WordsInOrder;

/**
 * Folds a ranking: a hit joins the most similar earlier hit that is not folded itself, if their similarity reaches a
 * threshold; ties go to the better hit.
 *
 * <p>For {@link Measure#LCS} slots exclude, and texts decide what is left. Copies are folded by their digests. An
 * instance folds once; it is not safe for use by several threads.
 */
public final class GreedyFold {

    /** Marks a hit that is not folded. */
    public static final int SHOWN = -1;

    private static final int BITS = 64;

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

    /**
     * Prepares to fold.
     *
     * @param min the least similarity of folded hits, above 0 and at most 1
     */
    public GreedyFold(Recipe recipe, Measure measure, double min, WindowSketches sketches) {
        this.recipe = recipe;
        this.measure = measure;
        this.min = min;
        this.sketches = sketches;
        words = new int[sketches.size()][];
        representatives = new int[sketches.size()];
        similarities = new float[sketches.size()];
        fewest = measure == Measure.SLOTS ? Slots.fewestEqual(recipe, min) : SlotBounds.fewestEqual(recipe, min);
    }

    /** Folds all hits. {@code cancellation} throws when the request was cancelled. */
    public void fold(Texts texts, Runnable cancellation) throws IOException {
        int[] shown = new int[sketches.size()];
        int groups = 0;
        for (int rank = 0; rank < sketches.size(); rank++) {
            cancellation.run();
            int best = SHOWN;
            double similarity = 0;
            for (int i = 0; i < groups && similarity < 1; i++) {
                double other = similarity(rank, shown[i], Math.max(min, similarity), texts);
                if (other >= min - 1e-9 && other > similarity) {
                    best = shown[i];
                    similarity = other;
                }
            }
            representatives[rank] = best;
            similarities[rank] = (float) similarity;
            if (best == SHOWN) {
                shown[groups++] = rank;
            }
        }
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
                if (isKnown && sketches.isCopy(left, right) == false && equalSlots(left, right) >= fewest) {
                    needed.set(left);
                    needed.set(right);
                }
            }
        }
        return needed;
    }

    /** Returns the similarity of two hits; it may be 0 when it is less than {@code least}. */
    private double similarity(int left, int right, double least, Texts texts) throws IOException {
        if (sketches.isCopy(left, right)) {
            return 1;
        }
        if (sketches.isKnown(left) == false || sketches.isKnown(right) == false) {
            return 0;
        }
        if (measure == Measure.HAMMING) {
            byte[] bytes = sketches.bytes();
            long different = Verifiers.bits(bytes, sketches.start(left)) ^ Verifiers.bits(bytes, sketches.start(right));
            return 1 - (double) Long.bitCount(different) / BITS;
        }
        int equal = equalSlots(left, right);
        if (equal < fewest) {
            return 0;
        }
        return measure == Measure.SLOTS
            ? Slots.similarity(recipe, equal)
            : comparison.similarity(words(left, texts), words(right, texts), least);
    }

    private int equalSlots(int left, int right) {
        byte[] bytes = sketches.bytes();
        return Slots.equal(recipe, bytes, sketches.start(left), bytes, sketches.start(right), fewest);
    }

    private int[] words(int rank, Texts texts) throws IOException {
        if (words[rank] == null) {
            String text = texts.read(rank);
            words[rank] = comparison.read(text == null ? "" : text);
        }
        return words[rank];
    }
}
