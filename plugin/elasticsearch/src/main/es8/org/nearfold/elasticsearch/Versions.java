package org.nearfold.elasticsearch;

import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.lookup.SourceFilter;
import org.elasticsearch.search.lookup.SourceProvider;

/** Calls that differ between versions. Of Elasticsearch 8.19. */
final class Versions {

    private Versions() {}

    /**
     * Returns what reads the sources of documents; fields that {@code filter} excludes may be
     * there.
     */
    static SourceProvider sources(SearchExecutionContext context, SourceFilter filter) {
        return context.createSourceProvider();
    }

    static void setField(SearchHit hit, DocumentField field) {
        hit.setDocumentField(field.getName(), field);
    }

    /** Returns the number of shards of an index. */
    static int shards(ClusterState state, Index index) {
        return state.metadata().getIndexSafe(index).getNumberOfShards();
    }
}
