package org.nearfold.elasticsearch;

import org.apache.lucene.search.Query;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.SearchExecutionContext;

import java.io.IOException;

/** What query builders inherit. Of Elasticsearch 8.19. */
abstract class SimpleQueryBuilder<B extends SimpleQueryBuilder<B>> extends AbstractQueryBuilder<B> {

    SimpleQueryBuilder() {}

    SimpleQueryBuilder(StreamInput in) throws IOException {
        super(in);
    }

    /** Returns the query of a shard. */
    abstract Query query(SearchExecutionContext context) throws IOException;

    @Override
    protected final Query doToQuery(SearchExecutionContext context) throws IOException {
        return query(context);
    }
}
