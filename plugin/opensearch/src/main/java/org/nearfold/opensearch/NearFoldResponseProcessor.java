package org.nearfold.opensearch;

import org.nearfold.lucene.HitWindow;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.NearFoldPage;
import org.opensearch.ExceptionsHelper;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.ActionRunnable;
import org.opensearch.action.get.GetResponse;
import org.opensearch.action.get.MultiGetItemResponse;
import org.opensearch.action.get.MultiGetRequest;
import org.opensearch.action.get.MultiGetResponse;
import org.opensearch.action.search.SearchRequest;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.action.search.SearchResponseSections;
import org.opensearch.common.document.DocumentField;
import org.opensearch.core.action.ActionListener;
import org.opensearch.index.mapper.RoutingFieldMapper;
import org.opensearch.search.SearchHit;
import org.opensearch.search.SearchHits;
import org.opensearch.search.aggregations.Aggregations;
import org.opensearch.search.fetch.subphase.FetchSourceContext;
import org.opensearch.search.pipeline.AbstractProcessor;
import org.opensearch.search.pipeline.PipelineProcessingContext;
import org.opensearch.search.pipeline.Processor;
import org.opensearch.search.pipeline.SearchResponseProcessor;
import org.opensearch.search.profile.ProfileShardResult;
import org.opensearch.search.profile.SearchProfileShardResults;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;

/**
 * The response processor {@code near_fold}: folds the window that {@link NearFoldRequestProcessor}
 * asked for, over all shards, and cuts the page out of it. Texts that decide are those of the hits,
 * or are read with the rights of who sent the request. It folds on a thread of searches, as the one
 * that completes a search serves the network.
 */
final class NearFoldResponseProcessor extends AbstractProcessor implements SearchResponseProcessor {

    private final BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader;
    private final Executor searchThreads;

    private NearFoldResponseProcessor(
            String tag,
            String description,
            boolean ignoreFailure,
            BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader,
            Executor searchThreads) {
        super(tag, description, ignoreFailure);
        this.reader = reader;
        this.searchThreads = searchThreads;
    }

    @Override
    public SearchResponse processResponse(SearchRequest request, SearchResponse response) {
        throw new UnsupportedOperationException("[near_fold] needs the context of its pipeline");
    }

    @Override
    public void processResponseAsync(
            SearchRequest request,
            SearchResponse response,
            PipelineProcessingContext context,
            ActionListener<SearchResponse> listener) {
        if (context.getAttribute(NearFoldPage.ATTRIBUTE) instanceof NearFoldPage page) {
            searchThreads.execute(
                    ActionRunnable.wrap(listener, last -> fold(response, page, last)));
        } else {
            listener.onResponse(response);
        }
    }

    private void fold(
            SearchResponse response, NearFoldPage page, ActionListener<SearchResponse> listener)
            throws IOException {
        String field = page.options().field();
        SearchHits hits = response.getHits();
        HitWindow window =
                new HitWindow(
                        page.options(),
                        new RankedHits(hits.getHits(), field),
                        () -> {}); // a processor is not given the task of its search
        int[] ranks =
                window.missingTexts().stream()
                        .filter(rank -> hits.getAt(rank).getClusterAlias() == null)
                        .toArray();
        if (ranks.length == 0) {
            listener.onResponse(respond(window, response, page));
            return;
        }
        MultiGetRequest request = new MultiGetRequest();
        for (int rank : ranks) {
            SearchHit hit = hits.getAt(rank);
            DocumentField routing = hit.field(RoutingFieldMapper.NAME);
            request.add(
                    new MultiGetRequest.Item(hit.getIndex(), hit.getId())
                            .routing(routing == null ? null : routing.getValue())
                            .fetchSourceContext(
                                    new FetchSourceContext(
                                            true, page.textPaths(), new String[0])));
        }
        ActionListener<MultiGetResponse> reading =
                ActionListener.wrap(
                        read -> {
                            Runnable folding =
                                    ActionRunnable.supply(
                                            listener,
                                            () -> {
                                                setTexts(window, ranks, read, field);
                                                return respond(window, response, page);
                                            });
                            searchThreads.execute(folding);
                        },
                        listener::onFailure);
        reader.accept(request, reading);
    }

    private static void setTexts(
            HitWindow window, int[] ranks, MultiGetResponse read, String field) {
        for (int i = 0; i < ranks.length; i++) {
            window.setText(ranks[i], text(read.getResponses()[i], field));
        }
    }

    /**
     * Returns the text of a document; null if it is gone.
     *
     * @throws OpenSearchStatusException if it could not be read: folding without it would be wrong
     */
    private static String text(MultiGetItemResponse item, String field) {
        if (item.isFailed()) {
            Exception cause = item.getFailure().getFailure();
            throw new OpenSearchStatusException(
                    NearFoldPage.UNREAD_TEXT,
                    ExceptionsHelper.status(cause),
                    cause,
                    item.getIndex(),
                    item.getId());
        }
        GetResponse read = item.getResponse();
        boolean isThere = read.isExists() && read.isSourceEmpty() == false;
        return isThere ? RankedHits.text(read.getSourceAsMap(), field) : null;
    }

    private static SearchResponse respond(
            HitWindow window, SearchResponse response, NearFoldPage page)
            throws IOException {
        SearchHit[] shown =
                window.fold().stream()
                        .skip(page.from())
                        .limit(page.size())
                        .map(response.getHits()::getAt)
                        .toArray(SearchHit[]::new);
        SearchHits all = response.getHits();
        Map<String, ProfileShardResult> profile = response.getProfileResults();
        SearchResponseSections sections =
                new SearchResponseSections(
                        new SearchHits(shown, all.getTotalHits(), all.getMaxScore()),
                        (Aggregations) response.getAggregations(),
                        response.getSuggest(),
                        response.isTimedOut(),
                        response.isTerminatedEarly(),
                        profile.isEmpty() ? null : new SearchProfileShardResults(profile),
                        response.getNumReducePhases(),
                        response.getInternalResponse().getSearchExtBuilders(),
                        response.getInternalResponse().getProcessorResult());
        return new SearchResponse(
                sections,
                response.getScrollId(),
                response.getTotalShards(),
                response.getSuccessfulShards(),
                response.getSkippedShards(),
                response.getTook().millis(),
                response.getPhaseTook(),
                response.getShardFailures(),
                response.getClusters(),
                response.pointInTimeId());
    }

    @Override
    public String getType() {
        return NearFoldOptions.NAME;
    }

    /** Makes the processor, which has no options. */
    static final class Factory implements Processor.Factory<SearchResponseProcessor> {

        private final BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader;
        private final Executor searchThreads;

        /** Takes what reads documents with the rights of who sent the request. */
        Factory(
                BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader,
                Executor searchThreads) {
            this.reader = reader;
            this.searchThreads = searchThreads;
        }

        @Override
        public NearFoldResponseProcessor create(
                Map<String, Processor.Factory<SearchResponseProcessor>> factories,
                String tag,
                String description,
                boolean ignoreFailure,
                Map<String, Object> config,
                Processor.PipelineContext context) {
            return new NearFoldResponseProcessor(
                    tag, description, ignoreFailure, reader, searchThreads);
        }
    }
}
