package org.nearfold.lucene;

import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.Words;
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

    /** Marks a hit that is not folded under one of the page, which is all that is known of it. */
    public static final int BEYOND_PAGE = -2;

    private static final int BITS = 64;
    private static final long LOW = 0xFFFFFFFFL;
    private static final Words NO_WORDS = new Words(new int[0], new int[0], false);

    /** Reads the words of a hit by its rank; null where it has no text. */
    @FunctionalInterface
    public interface Texts {
        Words read(int rank) throws IOException;
    }

    private final Recipe recipe;
    private final Measure measure;
    private final double min;
    private final WindowSketches sketches;
    private final int fewest;
    private final WordsInOrder comparison = new WordsInOrder();
    private final Words[] words;
    private final int[] representatives;
    private final float[] similarities;

    /** The ranks of the hits that are not folded; as many as {@link #groups}. */
    private final int[] shown;

    private int groups;

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
        words = new Words[sketches.size()];
        representatives = new int[sketches.size()];
        similarities = new float[sketches.size()];
        shown = new int[sketches.size()];
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
        fold(texts, cancellation, sketches.size());
    }

    /**
     * Finds the first {@code page} hits that are not folded, and all hits that are folded under
     * them; of other hits only what that depends on, so that few texts are read.
     */
    void fold(Texts texts, Runnable cancellation, int page) throws IOException {
        Arrays.fill(representatives, BEYOND_PAGE);
        int end = 0;
        while (end < sketches.size() && groups < page) {
            cancellation.run();
            join(end++, texts);
        }
        BitSet needed = neededBeyond(end, cancellation);
        for (int rank = needed.nextSetBit(end); rank >= 0; rank = needed.nextSetBit(rank + 1)) {
            cancellation.run();
            join(rank, texts);
        }
    }

    /** Folds a hit, or shows it; earlier hits that are similar to it were joined before. */
    private void join(int rank, Texts texts) throws IOException {
        representatives[rank] = SHOWN;
        if (joinCopy(rank) == false) {
            joinSimilar(rank, texts);
        }
        if (representatives[rank] == SHOWN) {
            shown[groups++] = rank;
        }
    }

    /**
     * Returns the hits from {@code start} on that may be folded under a hit shown so far, and
     * before each of them those that it may be folded under instead.
     */
    private BitSet neededBeyond(int start, Runnable cancellation) {
        BitSet needed = new BitSet(sketches.size());
        for (int rank = sketches.size() - 1; rank >= start; rank--) {
            cancellation.run();
            if (needed.get(rank) == false && mayJoinShown(rank) == false) {
                continue;
            }
            needed.set(rank);
            for (int other = start; other < rank; other++) {
                if (needed.get(other) == false && mayJoin(rank, other)) {
                    needed.set(other);
                }
            }
        }
        return needed;
    }

    private boolean mayJoinShown(int rank) {
        for (int i = 0; i < groups; i++) {
            if (mayJoin(rank, shown[i])) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether digests or sketches let a hit be folded under another. */
    private boolean mayJoin(int rank, int other) {
        return sketches.isCopy(rank, other) || isCandidate(equalParts(rank, other));
    }

    /**
     * Folds a hit under the best shown one with the same text, if there is one; returns whether
     * there is.
     */
    private boolean joinCopy(int rank) {
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
    private void joinSimilar(int rank, Texts texts) throws IOException {
        int candidates = 0;
        for (int i = 0; i < groups; i++) {
            int equal = equalParts(rank, shown[i]);
            if (isCandidate(equal)) {
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

    /**
     * Returns the rank of the hit that a hit is folded under, {@link #SHOWN}, or {@link
     * #BEYOND_PAGE}.
     */
    public int representative(int rank) {
        return representatives[rank];
    }

    /** Returns the similarity of a folded hit to the one that it is folded under. */
    public float similarity(int rank) {
        return similarities[rank];
    }

    /**
     * Returns the ranks of the hits whose texts {@link #fold} may read. {@code cancellation} throws
     * when the request was cancelled.
     */
    public BitSet textsNeeded(Runnable cancellation) {
        BitSet needed = new BitSet();
        if (measure != Measure.LCS) {
            return needed;
        }
        for (int right = 1; right < sketches.size(); right++) {
            cancellation.run();
            for (int left = 0; left < right; left++) {
                if (sketches.isCopy(left, right) == false
                        && isCandidate(equalParts(left, right))) {
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

    private boolean isCandidate(int equalParts) {
        return equalParts >= fewest && equalParts > 0;
    }

    /**
     * Returns the equal slots of two sketches, or bits, or any smaller number when they are too
     * few; 0 where a hit has no sketch.
     */
    private int equalParts(int left, int right) {
        if (sketches.isKnown(left) == false || sketches.isKnown(right) == false) {
            return 0;
        }
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

    /** Returns the words of a hit; those of copies are read once, where digests are of words. */
    private Words words(int rank, Texts texts) throws IOException {
        boolean isOfWords = recipe.features() == Recipe.Features.WORD_PAIRS;
        int first = isOfWords ? sketches.firstCopy(rank) : rank;
        if (words[first] == null) {
            Words read = texts.read(first);
            words[first] = read == null ? NO_WORDS : read;
        }
        return words[first];
    }
}
