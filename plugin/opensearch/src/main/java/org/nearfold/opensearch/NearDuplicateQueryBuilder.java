package org.nearfold.opensearch;

import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.NearDuplicateQuery;
import org.opensearch.ResourceNotFoundException;
import org.opensearch.action.get.GetRequest;
import org.opensearch.action.get.GetResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.ParsingException;
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
import java.util.Objects;

/**
 * The query {@code near_duplicate}: documents similar to a text, or to the text of another
 * document.
 *
 * <p>The other document is read on the coordinating node with the rights of who sent the request.
 */
final class NearDuplicateQueryBuilder extends AbstractQueryBuilder<NearDuplicateQueryBuilder> {

    static final String NAME = "near_duplicate";

    private static final double DEFAULT_MIN = 0.8;

    private final String field;
    private final String text;
    private final LikeDocument document;
    private final Measure measure;
    private final double min;
    private final boolean include;

    private NearDuplicateQueryBuilder(
            String field,
            String text,
            LikeDocument document,
            Measure measure,
            double min,
            boolean include) {
        this.field = field;
        this.text = text;
        this.document = document;
        this.measure = measure;
        this.min = min;
        this.include = include;
    }

    NearDuplicateQueryBuilder(StreamInput in) throws IOException {
        super(in);
        field = in.readString();
        text = in.readOptionalString();
        document = in.readOptionalWriteable(LikeDocument::new);
        measure = in.readEnum(Measure.class);
        min = in.readDouble();
        include = in.readBoolean();
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(field);
        out.writeOptionalString(text);
        out.writeOptionalWriteable(document);
        out.writeEnum(measure);
        out.writeDouble(min);
        out.writeBoolean(include);
    }

    static NearDuplicateQueryBuilder fromXContent(XContentParser parser) throws IOException {
        String field = null;
        String text = null;
        LikeDocument document = null;
        Measure measure = Measure.LCS;
        double min = DEFAULT_MIN;
        boolean include = false;
        float boost = DEFAULT_BOOST;
        String queryName = null;
        String name = null;
        XContentParser.Token token = parser.nextToken();
        for (; token != XContentParser.Token.END_OBJECT; token = parser.nextToken()) {
            if (token == XContentParser.Token.FIELD_NAME) {
                name = parser.currentName();
                continue;
            }
            switch (name) {
                case "field" -> field = parser.text();
                case "like" -> {
                    if (token == XContentParser.Token.START_OBJECT) {
                        document = LikeDocument.fromXContent(parser);
                    } else {
                        text = parser.text();
                    }
                }
                case "measure" -> measure = Measure.named(parser.text());
                case "minimum_similarity" -> min = Refusals.checkSimilarity(parser.doubleValue());
                case "include" -> include = parser.booleanValue();
                case "boost" -> boost = parser.floatValue();
                case "_name" -> queryName = parser.text();
                case "policy", "marks" -> Refusals.refuse(name, parser);
                default ->
                        throw new ParsingException(
                                parser.getTokenLocation(),
                                "[" + NAME + "] does not support [" + name + "]");
            }
        }
        if (field == null || text == null == (document == null)) {
            throw new ParsingException(
                    parser.getTokenLocation(),
                    "[" + NAME + "] needs [field], and [like] with a text or a document");
        }
        return new NearDuplicateQueryBuilder(field, text, document, measure, min, include)
                .boost(boost)
                .queryName(queryName);
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NAME);
        builder.field("field", field);
        if (document != null) {
            document.toXContent(builder.field("like"), params);
        } else {
            builder.field("like", text);
        }
        builder.field("measure", measure.label());
        builder.field("minimum_similarity", min);
        builder.field("include", include);
        printBoostAndQueryName(builder);
        builder.endObject();
    }

    @Override
    protected QueryBuilder doRewrite(QueryRewriteContext context) {
        if (text != null) {
            return this;
        }
        if (document.isRequested()) {
            return document.found() == null
                    ? this
                    : copy(document.found().text(), document.found());
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
        return copy(null, requested);
    }

    private NearDuplicateQueryBuilder copy(String newText, LikeDocument newDocument) {
        return new NearDuplicateQueryBuilder(field, newText, newDocument, measure, min, include)
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
                            + NAME
                            + "] document ["
                            + requested.id()
                            + "] is not in index ["
                            + requested.index()
                            + "]");
        }
        Map<String, Object> source = response.getSourceAsMap();
        String found = source == null ? null : HitWindow.text(source, field);
        return new LikeDocument(
                response.getIndex(), response.getId(), null, found == null ? "" : found);
    }

    @Override
    protected Query doToQuery(QueryShardContext context) throws IOException {
        MappedFieldType type = context.fieldMapper(field);
        if (type == null) {
            return new MatchNoDocsQuery("field [" + field + "] does not exist");
        }
        if (type instanceof NearDuplicateFieldMapper.FieldType near) {
            if (text == null) {
                throw new IllegalStateException("[" + NAME + "] was not rewritten");
            }
            SourceTexts.check(context, measure);
            SourceTexts texts = new SourceTexts(context, field);
            Query query =
                    NearDuplicateQuery.of(field, near.fingerprinters(), text, measure, min, texts);
            return exceptLike(query, context);
        }
        throw new IllegalArgumentException(
                "["
                        + NAME
                        + "] needs a field of type [near_duplicate]; ["
                        + field
                        + "] is ["
                        + type.typeName()
                        + "]");
    }

    /** Leaves out the document that the others are similar to, unless it is to be included. */
    private Query exceptLike(Query query, QueryShardContext context) {
        if (include
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
        return field.equals(other.field)
                && Objects.equals(text, other.text)
                && Objects.equals(document, other.document)
                && measure == other.measure
                && min == other.min
                && include == other.include;
    }

    @Override
    protected int doHashCode() {
        return Objects.hash(field, text, document, measure, min, include);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }
}
