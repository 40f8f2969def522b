package org.nearfold.opensearch;

import org.apache.lucene.index.LeafReaderContext;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.ColumnReader;
import org.nearfold.lucene.DocumentIds;
import org.nearfold.lucene.Folding;
import org.nearfold.lucene.HitWindow;
import org.nearfold.lucene.NearFoldOptions;
import org.opensearch.common.document.DocumentField;
import org.opensearch.index.mapper.Uid;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Adds the field {@code near_fold} to each hit of a folded search: how many hits are folded under
 * it, and which.
 */
final class NearFoldFetchPhase implements FetchSubPhase {

    @Override
    public FetchSubPhaseProcessor getProcessor(FetchContext context) {
        if (context.rescore() == null) {
            return null;
        }
        return context.rescore().stream()
                .filter(NearFoldContext.class::isInstance)
                .map(NearFoldContext.class::cast)
                .findFirst()
                .map(fold -> processor(context, fold))
                .orElse(null);
    }

    private static FetchSubPhaseProcessor processor(FetchContext context, NearFoldContext fold) {
        if (fold.reports()) {
            return fold.recipe() == null ? null : new Reporter(fold.recipe(), fold.options());
        }
        Folding folding = fold.folding();
        return folding == null
                ? null
                : new Processor(context, folding, fold.options().maxMembers());
    }

    /** Reports the columns of hits, which the response processor replaces. */
    private static final class Reporter implements FetchSubPhaseProcessor {

        private final Recipe recipe;
        private final NearFoldOptions options;
        private ColumnReader columns;

        Reporter(Recipe recipe, NearFoldOptions options) {
            this.recipe = recipe;
            this.options = options;
        }

        @Override
        public void setNextReader(LeafReaderContext segment) throws IOException {
            columns = new ColumnReader(segment.reader(), options, recipe);
        }

        @Override
        public void process(FetchSubPhase.HitContext hit) throws IOException {
            columns.advance(hit.docId());
            Map<String, Object> report = HitWindow.report(columns, recipe);
            hit.hit()
                    .setDocumentField(
                            NearFoldOptions.NAME,
                            new DocumentField(NearFoldOptions.NAME, List.of(report)));
        }
    }

    /** Adds what the query phase folded. */
    private static final class Processor implements FetchSubPhaseProcessor {

        private final Folding folding;
        private final int maxMembers;
        private final DocumentIds ids;

        Processor(FetchContext context, Folding folding, int maxMembers) {
            this.folding = folding;
            this.maxMembers = maxMembers;
            ids = new DocumentIds(context.searcher().getIndexReader(), Uid::decodeId);
        }

        @Override
        public void setNextReader(LeafReaderContext segment) {}

        @Override
        public void process(FetchSubPhase.HitContext hit) throws IOException {
            Map<String, Object> value = folding.report(hit.hit().docId(), maxMembers, ids);
            if (value != null) {
                hit.hit()
                        .setDocumentField(
                                NearFoldOptions.NAME,
                                new DocumentField(NearFoldOptions.NAME, List.of(value)));
            }
        }
    }
}
