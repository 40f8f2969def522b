package org.nearfold.opensearch;

import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.nearfold.lucene.LikeDocument;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.NearDuplicateOptions;
import org.nearfold.lucene.NearDuplicateQuery;
import org.nearfold.lucene.TextReader;
import org.opensearch.ResourceNotFoundException;
import org.opensearch.action.get.GetRequest;
import org.opensearch.action.get.GetResponse;
import org.opensearch.common.xcontent.support.XContentMapValues;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.index.mapper.IdFieldMapper;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.query.AbstractQueryBuilder;
import org.opensearch.index.query.QueryBuilder;
import org.opensearch.index.query.QueryRewriteContext;
import org.opensearch.index.query.QueryShardContext;

import java.io.IOException;
import java.util.Map;

/**
 * The query {@code near_duplicate}: documents similar to a text, or to the text of another
 * document.
 *
 * <p>The other document is read on the coordinating node with the rights of who sent the request.
 */
final class NearDuplicateQueryBuilder extends AbstractQueryBuilder<NearDuplicateQueryBuilder> {

    private final NearDuplicateOptions options;

    private NearDuplicateQueryBuilder(NearDuplicateOptions options) {
        this.options = options;
    }

    NearDuplicateQueryBuilder(StreamInput in) throws IOException {
        super(in);
        options =
                new NearDuplicateOptions(
                        in.readString(),
                        in.readOptionalString(),
                        readDocument(in),
                        in.readEnum(Measure.class),
                        in.readDouble(),
                        in.readBoolean());
    }

    private static LikeDocument readDocument(StreamInput in) throws IOException {
        return in.readBoolean()
                ? new LikeDocument(in.readString(), in.readString(), in.readOptionalString(), null)
                : null;
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(options.field());
        out.writeOptionalString(options.text());
        LikeDocument document = options.document();
        out.writeBoolean(document != null);
        if (document != null) {
            out.writeString(document.index());
            out.writeString(document.id());
            out.writeOptionalString(document.routing());
        }
        out.writeEnum(options.measure());
        out.writeDouble(options.min());
        out.writeBoolean(options.include());
    }

    static NearDuplicateQueryBuilder fromXContent(XContentParser parser) throws IOException {
        Map<String, Object> request = parser.map();
        return new NearDuplicateQueryBuilder(NearDuplicateOptions.of(request))
                .boost(NearDuplicateOptions.boost(request, DEFAULT_BOOST))
                .queryName(XContentMapValues.nodeStringValue(request.get("_name"), null));
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NearDuplicateOptions.NAME);
        for (Map.Entry<String, Object> option : options.toMap().entrySet()) {
            builder.field(option.getKey(), option.getValue());
        }
        printBoostAndQueryName(builder);
        builder.endObject();
    }

    @Override
    protected QueryBuilder doRewrite(QueryRewriteContext context) {
        if (options.text() != null) {
            return this;
        }
        LikeDocument document = options.document();
        if (document.isRequested()) {
            return document.found() == null ? this : with(document.found());
        }
        LikeDocument requested = document.request();
        context.registerAsyncAction(
                (client, listener) -> {
                    GetRequest get =
                            new GetRequest(requested.index(), requested.id())
                                    .routing(requested.routing());
                    client.get(
                            get,
                            ActionListener.wrap(
                                    response -> {
                                        requested.setFound(found(requested, response));
                                        listener.onResponse(null);
                                    },
                                    listener::onFailure));
                });
        return with(requested);
    }

    private NearDuplicateQueryBuilder with(LikeDocument document) {
        return new NearDuplicateQueryBuilder(options.with(document))
                .boost(boost())
                .queryName(queryName());
    }

    /**
     * Returns a document with its text: of the field, or of the field that it is a multi-field of.
     */
    private LikeDocument found(LikeDocument requested, GetResponse response) {
        if (response.isExists() == false) {
            throw new ResourceNotFoundException(
                    "["
                            + NearDuplicateOptions.NAME
                            + "] document ["
                            + requested.id()
                            + "] is not in index ["
                            + requested.index()
                            + "]");
        }
        Map<String, Object> source = response.getSourceAsMap();
        String text =
                source == null
                        ? null
                        : TextReader.find(
                                options.field(),
                                path -> XContentMapValues.extractValue(path, source));
        return new LikeDocument(
                response.getIndex(), response.getId(), null, text == null ? "" : text);
    }

    @Override
    protected Query doToQuery(QueryShardContext context) throws IOException {
        String field = options.field();
        MappedFieldType type = context.fieldMapper(field);
        if (type == null) {
            return new MatchNoDocsQuery("field [" + field + "] does not exist");
        }
        if (type instanceof NearDuplicateFieldMapper.FieldType near) {
            if (options.text() == null) {
                throw new IllegalStateException(
                        "[" + NearDuplicateOptions.NAME + "] was not rewritten");
            }
            SourceTexts.check(context, options.measure());
            SourceTexts texts = new SourceTexts(context, field);
            Query query =
                    NearDuplicateQuery.of(
                            field,
                            near.fingerprinters(),
                            options.text(),
                            options.measure(),
                            options.min(),
                            texts);
            return exceptLike(query, context);
        }
        throw new IllegalArgumentException(
                "["
                        + NearDuplicateOptions.NAME
                        + "] needs a field of type [near_duplicate]; ["
                        + field
                        + "] is ["
                        + type.typeName()
                        + "]");
    }

    /** Leaves out the document that the others are similar to, unless it is to be included. */
    private Query exceptLike(Query query, QueryShardContext context) {
        LikeDocument document = options.document();
        if (options.include()
                || document == null
                || context.index().getName().equals(document.index()) == false) {
            return query;
        }
        Query itself = context.fieldMapper(IdFieldMapper.NAME).termQuery(document.id(), context);
        return new BooleanQuery.Builder()
                .add(query, BooleanClause.Occur.MUST)
                .add(itself, BooleanClause.Occur.MUST_NOT)
                .build();
    }

    @Override
    protected boolean doEquals(NearDuplicateQueryBuilder other) {
        return options.equals(other.options);
    }

    @Override
    protected int doHashCode() {
        return options.hashCode();
    }

    @Override
    public String getWriteableName() {
        return NearDuplicateOptions.NAME;
    }
}
