package org.nearfold.opensearch;

import org.nearfold.lucene.HitWindow;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.NearFoldPage;
import org.opensearch.action.get.GetResponse;
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

import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The response processor {@code near_fold}: folds the window that {@link NearFoldRequestProcessor}
 * asked for, over all shards, and cuts the page out of it. Texts that decide are those of the hits,
 * or are read with the rights of who sent the request.
 */
final class NearFoldResponseProcessor extends AbstractProcessor implements SearchResponseProcessor {

    private final BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader;

    private NearFoldResponseProcessor(
            String tag,
            String description,
            boolean ignoreFailure,
            BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader) {
        super(tag, description, ignoreFailure);
        this.reader = reader;
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
            SearchHit[] hits = response.getHits().getHits();
            HitWindow window =
                    new HitWindow(page.options(), new RankedHits(hits, page.options().field()));
            readTexts(
                    window,
                    response,
                    page,
                    ActionListener.map(listener, read -> fold(window, response, page)));
        } else {
            listener.onResponse(response);
        }
    }

    /** Reads the texts that the hits of this cluster lack, and calls the listener. */
    private void readTexts(
            HitWindow window,
            SearchResponse response,
            NearFoldPage page,
            ActionListener<Void> listener) {
        SearchHits hits = response.getHits();
        int[] ranks =
                window.missingTexts().stream()
                        .filter(rank -> hits.getAt(rank).getClusterAlias() == null)
                        .toArray();
        if (ranks.length == 0) {
            listener.onResponse(null);
            return;
        }
        String field = page.options().field();
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
        reader.accept(
                request,
                ActionListener.map(
                        listener,
                        texts -> {
                            for (int i = 0; i < ranks.length; i++) {
                                GetResponse read = texts.getResponses()[i].getResponse();
                                window.setText(ranks[i], text(read, field));
                            }
                            return null;
                        }));
    }

    private static String text(GetResponse read, String field) {
        boolean isThere = read != null && read.isExists() && read.isSourceEmpty() == false;
        return isThere ? RankedHits.text(read.getSourceAsMap(), field) : null;
    }

    private static SearchResponse fold(HitWindow window, SearchResponse response, NearFoldPage page)
            throws java.io.IOException {
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

        /** Takes what reads documents with the rights of who sent the request. */
        Factory(BiConsumer<MultiGetRequest, ActionListener<MultiGetResponse>> reader) {
            this.reader = reader;
        }

        @Override
        public NearFoldResponseProcessor create(
                Map<String, Processor.Factory<SearchResponseProcessor>> factories,
                String tag,
                String description,
                boolean ignoreFailure,
                Map<String, Object> config,
                Processor.PipelineContext context) {
            return new NearFoldResponseProcessor(tag, description, ignoreFailure, reader);
        }
    }
}
