package org.nearfold.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.WordsInOrder;

/**
 * Folds the first hits of a ranking: a hit joins the most similar earlier hit that is not folded itself, if their
 * similarity reaches a threshold; ties go to the better hit.
 *
 * <p>For {@link Measure#LCS} slots exclude, and texts decide what is left. Copies are folded by their digests. An
 * instance folds once; it is not safe for use by several threads.
 */
public final class Folder {

    private static final int BITS = 64;

    private final IndexSearcher searcher;
    private final String field;
    private final Recipe recipe;
    private final Measure measure;
    private final double min;
    private final TextReader texts;
    private final Runnable cancellation;
    private final WordsInOrder comparison = new WordsInOrder();
    private final int fewest;
    private ScoreDoc[] hits;
    private WindowSketches sketches;
    private int[][] words;

    /**
     * Prepares to fold.
     *
     * @param min the least similarity of folded hits, above 0 and at most 1
     * @param cancellation throws when the request was cancelled
     */
    public Folder(
        IndexSearcher searcher,
        String field,
        Recipe recipe,
        Measure measure,
        double min,
        TextReader texts,
        Runnable cancellation
    ) {
        this.searcher = searcher;
        this.field = field;
        this.recipe = recipe;
        this.measure = measure;
        this.min = min;
        this.texts = texts;
        this.cancellation = cancellation;
        fewest = measure == Measure.SLOTS ? Slots.fewestEqual(recipe, min) : SlotBounds.fewestEqual(recipe, min);
    }

    /**
     * Folds the first {@code window} of the hits of a shard, in order of rank, and moves the folded ones behind the
     * others, with a score of zero; hits beyond the window follow with a score of zero.
     */
    public Folding fold(ScoreDoc[] ranking, int window) throws IOException {
        hits = ranking.clone();
        int size = Math.min(window, hits.length);
        boolean isHamming = measure == Measure.HAMMING;
        String column = isHamming ? Columns.of(field, Columns.SIMHASH) : field;
        int length = isHamming ? Long.BYTES : recipe.sketchBytes();
        sketches = new WindowSketches(searcher, hits, size, field, column, length);
        words = new int[size][];
        Folding folding = new Folding();
        List<ScoreDoc> folded = new ArrayList<>();
        int[] representatives = new int[size];
        int groups = 0;
        for (int rank = 0; rank < size; rank++) {
            cancellation.run();
            int best = -1;
            double similarity = 0;
            for (int i = 0; i < groups && similarity < 1; i++) {
                double other = similarity(rank, representatives[i], Math.max(min, similarity));
                if (other >= min - 1e-9 && other > similarity) {
                    best = representatives[i];
                    similarity = other;
                }
            }
            if (best < 0) {
                folding.addRepresentative(hits[rank].doc);
                ranking[groups] = hits[rank];
                representatives[groups++] = rank;
            } else {
                folding.fold(hits[rank].doc, hits[best].doc, (float) similarity);
                folded.add(hits[rank]);
            }
        }
        for (int i = 0; i < folded.size(); i++) {
            ranking[groups + i] = folded.get(i);
        }
        for (int i = groups; i < ranking.length; i++) {
            ranking[i].score = 0;
        }
        return folding;
    }

    /** Returns the similarity of two hits; it may be 0 when it is less than {@code least}. */
    private double similarity(int left, int right, double least) throws IOException {
        if (sketches.isCopy(left, right)) {
            return 1;
        }
        if (sketches.isKnown(left) == false || sketches.isKnown(right) == false) {
            return 0;
        }
        byte[] bytes = sketches.bytes();
        if (measure == Measure.HAMMING) {
            long different = Verifiers.bits(bytes, sketches.start(left)) ^ Verifiers.bits(bytes, sketches.start(right));
            return 1 - (double) Long.bitCount(different) / BITS;
        }
        int equal = Slots.equal(recipe, bytes, sketches.start(left), bytes, sketches.start(right), fewest);
        if (equal < fewest) {
            return 0;
        }
        return measure == Measure.SLOTS
            ? Slots.similarity(recipe, equal)
            : comparison.similarity(words(left), words(right), least);
    }

    private int[] words(int rank) throws IOException {
        if (words[rank] == null) {
            List<LeafReaderContext> segments = searcher.getIndexReader().leaves();
            int document = hits[rank].doc;
            LeafReaderContext segment = segments.get(ReaderUtil.subIndex(document, segments));
            String text = texts.read(segment, document - segment.docBase);
            words[rank] = comparison.read(text == null ? "" : text);
        }
        return words[rank];
    }
}
