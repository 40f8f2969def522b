package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.nearfold.core.Recipe;

import java.io.IOException;
import java.util.List;

/** Folds the first hits of a shard by its columns and stored texts. */
public final class Folder {

    private final IndexSearcher searcher;
    private final NearFoldOptions options;
    private final Recipe recipe;
    private final TextReader texts;
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
        this.texts = texts;
        this.cancellation = cancellation;
    }

    /**
     * Folds the first {@code window} of the hits, in order of rank, and moves the folded ones
     * behind the others, with a score of zero; hits beyond the window follow with a score of zero.
     */
    public Folding fold(ScoreDoc[] ranking, int window) throws IOException {
        ScoreDoc[] hits = ranking.clone();
        int size = Math.min(window, hits.length);
        WindowSketches sketches = WindowSketches.read(searcher, hits, size, options, recipe);
        GreedyFold fold = new GreedyFold(recipe, options.measure(), options.min(), sketches);
        fold.fold(rank -> text(hits[rank].doc), cancellation);
        Folding folding = new Folding();
        int next = 0;
        for (int rank = 0; rank < size; rank++) {
            if (fold.representative(rank) == GreedyFold.SHOWN) {
                folding.addRepresentative(hits[rank].doc);
                ranking[next++] = hits[rank];
            }
        }
        int groups = next;
        for (int rank = 0; rank < size; rank++) {
            if (fold.representative(rank) != GreedyFold.SHOWN) {
                int representative = hits[fold.representative(rank)].doc;
                folding.fold(hits[rank].doc, representative, fold.similarity(rank));
                ranking[next++] = hits[rank];
            }
        }
        for (int i = groups; i < ranking.length; i++) {
            ranking[i].score = 0;
        }
        return folding;
    }

    private String text(int document) throws IOException {
        List<LeafReaderContext> segments = searcher.getIndexReader().leaves();
        LeafReaderContext segment = segments.get(ReaderUtil.subIndex(document, segments));
        return texts.read(segment, document - segment.docBase);
    }
}
