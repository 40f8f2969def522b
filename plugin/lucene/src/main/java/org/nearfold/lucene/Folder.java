package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.Words;

import java.io.IOException;
import java.util.BitSet;
import java.util.List;

/** Folds the first hits of a shard by its columns and stored texts. */
public final class Folder {

    private final IndexSearcher searcher;
    private final NearFoldOptions options;
    private final Recipe recipe;
    private final DocumentWords words;
    private final Runnable cancellation;

    /** Prepares to fold; {@code cancellation} throws when the request was cancelled. */
    public Folder(
            IndexSearcher searcher,
            NearFoldOptions options,
            Recipe recipe,
            TextReader texts,
            Runnable cancellation) {
        this.searcher = searcher;
        this.options = options;
        this.recipe = recipe;
        words = new DocumentWords(options.field(), texts);
        this.cancellation = cancellation;
    }

    /**
     * Folds the first {@code window} of the hits, in order of rank, so that the first {@code page}
     * hits are right: those that are not folded, then the folded ones, with a score of zero. Other
     * hits follow with a score of zero.
     *
     * @param isPartial whether the request searches other shards, too
     */
    public Folding fold(ScoreDoc[] ranking, int window, int page, boolean isPartial)
            throws IOException {
        ScoreDoc[] hits = ranking.clone();
        int size = Math.min(window, hits.length);
        WindowSketches sketches = WindowSketches.read(searcher, hits, size, options, recipe);
        GreedyFold fold = new GreedyFold(recipe, options.measure(), options.min(), sketches);
        fold.fold(rank -> words(hits[rank].doc), cancellation, page);
        Folding folding = new Folding(isPartial);
        BitSet listed = new BitSet(size);
        int next = 0;
        for (int rank = 0; rank < size && next < page; rank++) {
            if (fold.representative(rank) == GreedyFold.SHOWN) {
                folding.addRepresentative(hits[rank].doc);
                listed.set(rank);
                ranking[next++] = hits[rank];
            }
        }
        for (int rank = 0; rank < hits.length; rank++) {
            if (listed.get(rank)) {
                continue;
            }
            int representative = rank < size ? fold.representative(rank) : GreedyFold.BEYOND_PAGE;
            if (representative >= 0 && listed.get(representative)) {
                folding.fold(hits[rank].doc, hits[representative].doc, fold.similarity(rank));
            }
            hits[rank].score = 0;
            ranking[next++] = hits[rank];
        }
        return folding;
    }

    private Words words(int document) throws IOException {
        List<LeafReaderContext> segments = searcher.getIndexReader().leaves();
        LeafReaderContext segment = segments.get(ReaderUtil.subIndex(document, segments));
        return words.read(segment, document - segment.docBase);
    }
}
