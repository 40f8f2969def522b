package org.nearfold.opensearch;

import java.io.IOException;
import java.util.Objects;
import org.nearfold.lucene.Foldings;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.NearFoldOptions;
import org.opensearch.common.UUIDs;
import org.opensearch.core.common.ParsingException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.query.QueryRewriteContext;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.search.rescore.RescoreContext;
import org.opensearch.search.rescore.RescorerBuilder;

/** The rescorer {@code near_fold}: folds near duplicates within the window of each shard. */
final class NearFoldBuilder extends RescorerBuilder<NearFoldBuilder> {

    static final String NAME = "near_fold";

    private static final double DEFAULT_MIN = 0.9;
    private static final int DEFAULT_WINDOW = 100;
    private static final int DEFAULT_MEMBERS = 10;
    private static final int MOST_MEMBERS = 1_000;

    private final Foldings foldings;
    private final String field;
    private final Measure measure;
    private final double min;
    private final int maxMembers;
    /** Made on the coordinating node; the fetch phase finds the folding of the query phase by it. */
    private final String request;

    private NearFoldBuilder(
        Foldings foldings,
        String field,
        Measure measure,
        double min,
        int maxMembers,
        String request
    ) {
        this.foldings = foldings;
        this.field = field;
        this.measure = measure;
        this.min = min;
        this.maxMembers = maxMembers;
        this.request = request;
        windowSize = DEFAULT_WINDOW;
    }

    NearFoldBuilder(StreamInput in, Foldings foldings) throws IOException {
        super(in);
        this.foldings = foldings;
        field = in.readString();
        measure = in.readEnum(Measure.class);
        min = in.readDouble();
        maxMembers = in.readVInt();
        request = in.readOptionalString();
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(field);
        out.writeEnum(measure);
        out.writeDouble(min);
        out.writeVInt(maxMembers);
        out.writeOptionalString(request);
    }

    static NearFoldBuilder fromXContent(XContentParser parser, Foldings foldings) throws IOException {
        String field = null;
        Measure measure = Measure.LCS;
        double min = DEFAULT_MIN;
        int maxMembers = DEFAULT_MEMBERS;
        String name = null;
        XContentParser.Token token = parser.nextToken();
        for (; token != XContentParser.Token.END_OBJECT; token = parser.nextToken()) {
            if (token == XContentParser.Token.FIELD_NAME) {
                name = parser.currentName();
                continue;
            }
            switch (name) {
                case "field" -> field = parser.text();
                case "measure" -> measure = Measure.named(parser.text());
                case "minimum_similarity" -> min = Refusals.checkSimilarity(parser.doubleValue());
                case "max_members" -> maxMembers = checkMembers(parser.intValue());
                case "policy", "marks" -> Refusals.refuse(name, parser);
                default -> throw new ParsingException(
                    parser.getTokenLocation(), "[" + NAME + "] does not support [" + name + "]"
                );
            }
        }
        if (field == null) {
            throw new ParsingException(parser.getTokenLocation(), "[" + NAME + "] needs [field]");
        }
        return new NearFoldBuilder(foldings, field, measure, min, maxMembers, null);
    }

    private static int checkMembers(int members) {
        if (members < 0 || members > MOST_MEMBERS) {
            throw new IllegalArgumentException("[max_members] is 0 to " + MOST_MEMBERS + ", not " + members);
        }
        return members;
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NAME);
        builder.field("field", field);
        builder.field("measure", measure.label());
        builder.field("minimum_similarity", min);
        builder.field("max_members", maxMembers);
        builder.endObject();
    }

    @Override
    public NearFoldBuilder rewrite(QueryRewriteContext context) {
        if (request != null) {
            return this;
        }
        NearFoldBuilder named = new NearFoldBuilder(foldings, field, measure, min, maxMembers, UUIDs.base64UUID());
        return named.windowSize(windowSize);
    }

    @Override
    protected RescoreContext innerBuildContext(int size, QueryShardContext context) {
        MappedFieldType type = context.fieldMapper(field);
        if (type != null && type instanceof NearDuplicateFieldMapper.FieldType == false) {
            throw new IllegalArgumentException(
                "[" + NAME + "] needs a field of type [near_duplicate]; [" + field + "] is [" + type.typeName() + "]"
            );
        }
        NearDuplicateFieldMapper.FieldType near = (NearDuplicateFieldMapper.FieldType) type;
        if (near != null) {
            measure.check(near.fingerprinters().recipe(), field);
        }
        String shard = request + "/" + context.getFullyQualifiedIndex().getUUID() + "/" + context.getShardId();
        NearFoldOptions options = new NearFoldOptions(field, measure, min, maxMembers, shard);
        return new NearFoldContext(size, options, near, new SourceTexts(context, field), foldings);
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && equalsTo((NearFoldBuilder) other);
    }

    private boolean equalsTo(NearFoldBuilder other) {
        return field.equals(other.field)
            && measure == other.measure
            && min == other.min
            && maxMembers == other.maxMembers
            && Objects.equals(request, other.request);
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), field, measure, min, maxMembers, request);
    }

    @Override
    public String getWriteableName() {
        return NAME;
    }
}
