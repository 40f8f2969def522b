package org.nearfold.opensearch;

import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.search.rescore.RescoreContext;

import java.util.List;

/**
 * Gives the rescorer {@code near_fold} the page and the shards of its request, which rescorers are
 * not given. One that another rescorer follows folds the whole window.
 */
final class PageListener implements SearchOperationListener {

    @Override
    public void onPreQueryPhase(SearchContext context) {
        List<RescoreContext> rescorers = context.rescore();
        if (rescorers == null || rescorers.isEmpty()) {
            return;
        }
        int last = rescorers.size() - 1;
        for (int i = 0; i <= last; i++) {
            if (rescorers.get(i) instanceof NearFoldContext fold) {
                int page = Math.max(0, context.from()) + context.size();
                boolean isPartial = context.request().numberOfShards() > 1;
                fold.setRequest(i == last ? page : Integer.MAX_VALUE, isPartial);
            }
        }
    }
}
