package org.nearfold.elasticsearch;

import org.elasticsearch.index.shard.SearchOperationListener;
import org.elasticsearch.search.internal.SearchContext;
import org.elasticsearch.search.rescore.RescoreContext;

import java.util.List;

/**
 * Gives the rescorer {@code near_fold} the page of its request, which rescorers are not given. One
 * that another rescorer follows folds the whole window.
 */
final class PageListener implements SearchOperationListener {

    @Override
    public void onPreQueryPhase(SearchContext context) {
        List<RescoreContext> rescorers = context.rescore();
        if (rescorers == null || rescorers.isEmpty()) {
            return;
        }
        if (rescorers.get(rescorers.size() - 1) instanceof NearFoldContext fold) {
            fold.setPage(Math.max(0, context.from()) + context.size());
        }
    }
}
