package org.nearfold.elasticsearch;

import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.action.get.MultiGetItemResponse;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.get.MultiGetResponse;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.TransportSearchAction;
import org.elasticsearch.action.support.ActionFilterChain;
import org.elasticsearch.action.support.ContextPreservingActionListener;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.IndexNotFoundException;
import org.elasticsearch.index.mapper.RoutingFieldMapper;
import org.elasticsearch.plugins.Plugin.PluginServices;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.nearfold.lucene.HitWindow;
import org.nearfold.lucene.NearFoldPage;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Executor;

/**
 * Folds the hits of several shards on the coordinating node: asks the shards for the whole window
 * with its sketches, folds it, and cuts the page out of it. Texts that decide are those of the hits,
 * or are read with the rights of who sent the request. Searches of one shard, which folds itself,
 * and those without the rescorer pass unchanged.
 */
final class NearFoldFilter implements MappedActionFilter {

    private volatile PluginServices services;

    /** Takes the services of the node, which are there before any request. */
    void use(PluginServices newServices) {
        services = newServices;
    }

    @Override
    public String actionName() {
        return TransportSearchAction.NAME;
    }

    @Override
    public <Request extends ActionRequest, Response extends ActionResponse> void apply(
            Task task,
            String action,
            Request request,
            ActionListener<Response> listener,
            ActionFilterChain<Request, Response> chain) {
        NearFoldBuilder fold = request instanceof SearchRequest search ? fold(search) : null;
        if (fold == null) {
            chain.proceed(task, action, request, listener);
            return;
        }
        SearchRequest search = (SearchRequest) request;
        SearchSourceBuilder source = search.source();
        NearFoldPage page = NearFoldPage.of(source.from(), source.size(), fold.options());
        SearchSourceBuilder window = source.shallowCopy().clearRescorers();
        window.from(0).size(fold.windowSize()).addRescorer(fold.reporting());
        search.source(window);
        ActionListener<Response> restoring =
                ActionListener.runBefore(listener, () -> search.source(source));
        ThreadContext context = services.client().threadPool().getThreadContext();
        chain.proceed(
                task,
                action,
                request,
                ContextPreservingActionListener.wrapPreservingContext(
                        folding(task, restoring, page), context));
    }

    /**
     * Returns the rescorer of a search that may have several shards; null for other searches, and
     * for those whose response cannot be made again: of a profile, a point in time or no ids.
     */
    private NearFoldBuilder fold(SearchRequest search) {
        SearchSourceBuilder source = search.source();
        boolean isFolded =
                source != null
                        && source.size() != 0
                        && source.profile() == false
                        && hasIds(source)
                        && source.pointInTimeBuilder() == null
                        && source.collapse() == null
                        && source.rescores() != null
                        && source.rescores().size() == 1
                        && source.rescores().get(0) instanceof NearFoldBuilder;
        if (isFolded == false) {
            return null;
        }
        NearFoldBuilder fold = (NearFoldBuilder) source.rescores().get(0);
        return fold.reports() || isOneShard(search) ? null : fold;
    }

    private static boolean hasIds(SearchSourceBuilder source) {
        return source.storedFields() == null || source.storedFields().fetchFields();
    }

    private boolean isOneShard(SearchRequest search) {
        if (Arrays.stream(search.indices()).anyMatch(name -> name.contains(":"))) {
            return false; // of another cluster, which resolving may ignore
        }
        ClusterState state = services.clusterService().state();
        int shards = 0;
        try {
            for (Index index :
                    services.indexNameExpressionResolver().concreteIndices(state, search)) {
                shards += Versions.shards(state, index);
            }
        } catch (IndexNotFoundException | IllegalArgumentException error) {
            return false; // the search itself refuses it
        }
        return shards == 1;
    }

    /** Folds on a thread of searches, as the one that completes a search serves the network. */
    @SuppressWarnings("unchecked")
    private <Response extends ActionResponse> ActionListener<Response> folding(
            Task task, ActionListener<Response> listener, NearFoldPage page) {
        return listener.delegateFailureAndWrap(
                (next, any) -> {
                    SearchResponse response = (SearchResponse) any;
                    response.mustIncRef();
                    ActionListener<SearchResponse> folded =
                            ActionListener.runAfter(
                                    (ActionListener<SearchResponse>) next, response::decRef);
                    searchThreads()
                            .execute(
                                    ActionRunnable.wrap(
                                            folded, last -> fold(task, response, page, last)));
                });
    }

    private Executor searchThreads() {
        return services.client().threadPool().executor(ThreadPool.Names.SEARCH);
    }

    private void fold(
            Task task,
            SearchResponse response,
            NearFoldPage page,
            ActionListener<SearchResponse> listener)
            throws IOException {
        String field = page.options().field();
        SearchHit[] hits = response.getHits().getHits();
        HitWindow window =
                new HitWindow(page.options(), new RankedHits(hits, field), cancellation(task));
        int[] ranks =
                window.missingTexts().stream()
                        .filter(rank -> hits[rank].getClusterAlias() == null)
                        .toArray();
        if (ranks.length == 0) {
            respond(window, response, page, listener);
            return;
        }
        MultiGetRequest request = new MultiGetRequest();
        for (int rank : ranks) {
            request.add(item(hits[rank], page));
        }
        ActionListener<MultiGetResponse> reading =
                listener.delegateFailureAndWrap(
                        (next, read) -> {
                            Runnable folding =
                                    ActionRunnable.wrap(
                                            next,
                                            last -> {
                                                setTexts(window, ranks, read, field);
                                                respond(window, response, page, last);
                                            });
                            searchThreads().execute(folding);
                        });
        services.client().multiGet(request, reading);
    }

    private static Runnable cancellation(Task task) {
        return task instanceof CancellableTask search ? search::ensureNotCancelled : () -> {};
    }

    private static MultiGetRequest.Item item(SearchHit hit, NearFoldPage page) {
        DocumentField routing = hit.field(RoutingFieldMapper.NAME);
        return new MultiGetRequest.Item(hit.getIndex(), hit.getId())
                .routing(routing == null ? null : routing.getValue())
                .fetchSourceContext(
                        FetchSourceContext.of(true, page.textPaths(), new String[0]));
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
     * @throws ElasticsearchStatusException if it could not be read: folding without it would be
     *     wrong
     */
    private static String text(MultiGetItemResponse item, String field) {
        if (item.isFailed()) {
            Exception cause = item.getFailure().getFailure();
            throw new ElasticsearchStatusException(
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

    private static void respond(
            HitWindow window,
            SearchResponse response,
            NearFoldPage page,
            ActionListener<SearchResponse> listener)
            throws IOException {
        SearchHits all = response.getHits();
        SearchHit[] shown =
                window.fold().stream()
                        .skip(page.from())
                        .limit(page.size())
                        .map(all::getAt)
                        .toArray(SearchHit[]::new);
        for (SearchHit hit : shown) {
            hit.incRef();
        }
        SearchHits hits = new SearchHits(shown, all.getTotalHits(), all.getMaxScore());
        SearchResponse folded =
                new SearchResponse(
                        hits,
                        response.getAggregations(),
                        response.getSuggest(),
                        response.isTimedOut(),
                        response.isTerminatedEarly(),
                        null,
                        response.getNumReducePhases(),
                        null,
                        response.getTotalShards(),
                        response.getSuccessfulShards(),
                        response.getSkippedShards(),
                        response.getTookInMillis(),
                        response.getShardFailures(),
                        response.getClusters());
        hits.decRef();
        ActionListener.respondAndRelease(listener, folded);
    }
}
