package org.nearfold.opensearch;

import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.NearFoldPage;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.search.builder.SearchSourceBuilder;
import org.opensearch.search.pipeline.AbstractProcessor;
import org.opensearch.search.pipeline.PipelineProcessingContext;
import org.opensearch.search.pipeline.Processor;
import org.opensearch.search.pipeline.SearchRequestProcessor;
import org.opensearch.search.pipeline.StatefulSearchRequestProcessor;
import org.opensearch.search.rescore.RescorerBuilder;

import java.util.Map;

/**
 * The request processor {@code near_fold}: lets shards report the sketches of the window instead of
 * folding it, so that {@link NearFoldResponseProcessor} folds the hits of all shards. Requests
 * without the rescorer pass unchanged.
 */
final class NearFoldRequestProcessor extends AbstractProcessor
        implements StatefulSearchRequestProcessor {

    private NearFoldRequestProcessor(String tag, String description, boolean ignoreFailure) {
        super(tag, description, ignoreFailure);
    }

    @Override
    public SearchRequest processRequest(SearchRequest request, PipelineProcessingContext context) {
        SearchSourceBuilder source = request.source();
        if (source == null || source.size() == 0 || source.rescores() == null) {
            return request;
        }
        if (source.storedFields() != null && source.storedFields().fetchFields() == false) {
            return request; // hits have no ids to list
        }
        for (RescorerBuilder<?> rescorer : source.rescores()) {
            if (rescorer instanceof NearFoldBuilder fold) {
                check(source);
                NearFoldPage page = NearFoldPage.of(source.from(), source.size(), fold.options());
                check(page, fold.windowSize());
                context.setAttribute(NearFoldPage.ATTRIBUTE, page);
                SearchSourceBuilder window = source.shallowCopy().clearRescorers();
                window.from(0).size(fold.windowSize()).addRescorer(fold.reporting());
                request.source(window);
            }
        }
        return request;
    }

    private static void check(SearchSourceBuilder source) {
        if (source.rescores().size() > 1) {
            throw new IllegalArgumentException(
                    "[near_fold] folds a ranking, and takes no other [rescore] beside it");
        }
        if (source.sorts() != null && source.sorts().isEmpty() == false
                || source.collapse() != null) {
            throw new IllegalArgumentException(
                    "[near_fold] folds by relevance, without [sort] and [collapse]");
        }
    }

    private static void check(NearFoldPage page, int window) {
        if (page.from() + page.size() > window) {
            throw new IllegalArgumentException(
                    "[near_fold] folds the first "
                            + window
                            + " hits, and [from] + [size] asks for "
                            + (page.from() + page.size())
                            + "; give a larger [window_size], or a smaller page");
        }
    }

    @Override
    public String getType() {
        return NearFoldOptions.NAME;
    }

    /** Makes the processor, which has no options. */
    static final class Factory implements Processor.Factory<SearchRequestProcessor> {

        @Override
        public NearFoldRequestProcessor create(
                Map<String, Processor.Factory<SearchRequestProcessor>> factories,
                String tag,
                String description,
                boolean ignoreFailure,
                Map<String, Object> config,
                PipelineContext context) {
            return new NearFoldRequestProcessor(tag, description, ignoreFailure);
        }
    }
}
