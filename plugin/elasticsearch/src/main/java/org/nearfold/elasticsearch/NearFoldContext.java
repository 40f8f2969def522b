package org.nearfold.elasticsearch;

import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.elasticsearch.search.rescore.RescoreContext;
import org.elasticsearch.search.rescore.Rescorer;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.Folder;
import org.nearfold.lucene.Folding;
import org.nearfold.lucene.Foldings;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.TextReader;

import java.io.IOException;

/** The rescorer {@code near_fold} of a request and a shard; the fetch phase makes it again. */
final class NearFoldContext extends RescoreContext {

    private final NearFoldOptions options;
    private final NearDuplicateFieldMapper.FieldType type;
    private final TextReader texts;
    private final Foldings foldings;
    private final boolean reports;

    private int page = Integer.MAX_VALUE;
    private boolean isPartial;

    /** Takes null for {@code type} where the index lacks the field: nothing is folded. */
    NearFoldContext(
            int windowSize,
            NearFoldOptions options,
            NearDuplicateFieldMapper.FieldType type,
            TextReader texts,
            Foldings foldings,
            boolean reports) {
        super(windowSize, new FoldingRescorer());
        this.options = options;
        this.type = type;
        this.texts = texts;
        this.foldings = foldings;
        this.reports = reports;
    }

    /**
     * Sets how many of the first hits the request shows or skips, and whether it searches other
     * shards, too.
     */
    void setRequest(int newPage, boolean newIsPartial) {
        page = newPage;
        isPartial = newIsPartial;
    }

    NearFoldOptions options() {
        return options;
    }

    /** Returns the recipe of the field; null where the index lacks it. */
    Recipe recipe() {
        return type == null ? null : type.fingerprinters().recipe();
    }

    /** Returns whether the fetch phase reports sketches, and {@link NearFoldFilter} folds. */
    boolean reports() {
        return reports;
    }

    /** Returns what the query phase folded, once; null if that is not known. */
    Folding folding() {
        return foldings.remove(options.request());
    }

    private void fold(TopDocs hits, IndexSearcher searcher) throws IOException {
        if (hits.scoreDocs.length > getWindowSize()) {
            throw new IllegalArgumentException(
                    "[near_fold] folds the first "
                            + getWindowSize()
                            + " hits of a shard, and [from] + [size] asks for "
                            + hits.scoreDocs.length
                            + "; give a larger [window_size], or a smaller page");
        }
        if (type != null && reports == false) {
            Recipe recipe = type.fingerprinters().recipe();
            Folder folder = new Folder(searcher, options, recipe, texts, this::checkCancellation);
            Folding folding = folder.fold(hits.scoreDocs, getWindowSize(), page, isPartial);
            foldings.put(options.request(), folding);
        }
    }

    /** Folds the hits; their scores stay, and folded ones have none. */
    private static final class FoldingRescorer implements Rescorer {

        @Override
        public TopDocs rescore(TopDocs hits, IndexSearcher searcher, RescoreContext context)
                throws IOException {
            ((NearFoldContext) context).fold(hits, searcher);
            return hits;
        }

        @Override
        public Explanation explain(
                int document, IndexSearcher searcher, RescoreContext context, Explanation source) {
            return source;
        }
    }
}
