package org.nearfold.elasticsearch;

import org.elasticsearch.TransportVersion;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.common.UUIDs;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.query.QueryRewriteContext;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.rescore.RescoreContext;
import org.elasticsearch.search.rescore.RescorerBuilder;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.nearfold.lucene.Foldings;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.NearFoldPage;

import java.io.IOException;
import java.util.Map;
import java.util.Objects;

/** The rescorer {@code near_fold}: folds near duplicates within the window of each shard. */
final class NearFoldBuilder extends RescorerBuilder<NearFoldBuilder> {

    private static final int DEFAULT_WINDOW = 100;

    private final Foldings foldings;
    private final NearFoldOptions options;

    /** Shards report sketches, and {@link NearFoldFilter} folds. */
    private final boolean reports;

    private NearFoldBuilder(Foldings foldings, NearFoldOptions options, boolean reports) {
        this.foldings = foldings;
        this.options = options;
        this.reports = reports;
        windowSize = DEFAULT_WINDOW;
    }

    NearFoldBuilder(StreamInput in, Foldings foldings) throws IOException {
        super(in);
        this.foldings = foldings;
        options =
                new NearFoldOptions(
                        in.readString(),
                        in.readEnum(Measure.class),
                        in.readDouble(),
                        in.readVInt(),
                        in.readOptionalString());
        reports = in.readBoolean();
    }

    @Override
    protected void doWriteTo(StreamOutput out) throws IOException {
        out.writeString(options.field());
        out.writeEnum(options.measure());
        out.writeDouble(options.min());
        out.writeVInt(options.maxMembers());
        out.writeOptionalString(options.request());
        out.writeBoolean(reports);
    }

    static NearFoldBuilder fromXContent(XContentParser parser, Foldings foldings)
            throws IOException {
        return new NearFoldBuilder(foldings, NearFoldOptions.of(parser.map()), false);
    }

    @Override
    protected void doXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject(NearFoldOptions.NAME);
        for (Map.Entry<String, Object> option : options.toMap().entrySet()) {
            builder.field(option.getKey(), option.getValue());
        }
        builder.endObject();
    }

    NearFoldOptions options() {
        return options;
    }

    boolean reports() {
        return reports;
    }

    /** Returns the rescorer whose shards report sketches and leave the ranking as it is. */
    NearFoldBuilder reporting() {
        return new NearFoldBuilder(foldings, options, true).windowSize(windowSize);
    }

    /** Refuses a page beyond the window: its hits would not be folded. */
    @Override
    public ActionRequestValidationException validate(
            SearchSourceBuilder source, ActionRequestValidationException earlier) {
        ActionRequestValidationException others = super.validate(source, earlier);
        NearFoldPage page = NearFoldPage.of(source.from(), source.size(), options);
        if (page.from() + page.size() <= windowSize) {
            return others;
        }
        String error =
                "[near_fold] folds the first "
                        + windowSize
                        + " hits of a shard, and [from] + [size] asks for "
                        + (page.from() + page.size())
                        + "; give a larger [window_size], or a smaller page";
        return ValidateActions.addValidationError(error, others);
    }

    /**
     * Names the request on the coordinating node: the fetch phase finds the folding of the query
     * phase by it.
     */
    @Override
    public NearFoldBuilder rewrite(QueryRewriteContext context) {
        if (options.request() != null) {
            return this;
        }
        NearFoldOptions named = options.named(UUIDs.base64UUID());
        return new NearFoldBuilder(foldings, named, reports).windowSize(windowSize);
    }

    @Override
    protected RescoreContext innerBuildContext(int size, SearchExecutionContext context) {
        String field = options.field();
        MappedFieldType type = context.getFieldType(field);
        if (type != null && type instanceof NearDuplicateFieldMapper.FieldType == false) {
            throw new IllegalArgumentException(
                    "["
                            + NearFoldOptions.NAME
                            + "] needs a field of type [near_duplicate]; ["
                            + field
                            + "] is ["
                            + type.typeName()
                            + "]");
        }
        NearDuplicateFieldMapper.FieldType near = (NearDuplicateFieldMapper.FieldType) type;
        if (near != null) {
            options.measure().check(near.fingerprinters().recipe(), field);
            SourceTexts.check(context, options.measure());
        }
        String shard = context.getFullyQualifiedIndex().getUUID() + "/" + context.getShardId();
        NearFoldOptions named = options.named(options.request() + "/" + shard);
        SourceTexts texts = new SourceTexts(context, field);
        return new NearFoldContext(size, named, near, texts, foldings, reports);
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && equalsTo((NearFoldBuilder) other);
    }

    private boolean equalsTo(NearFoldBuilder other) {
        return options.equals(other.options) && reports == other.reports;
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), options, reports);
    }

    @Override
    public String getWriteableName() {
        return NearFoldOptions.NAME;
    }

    /** Returns the oldest version: a node without the plugin refuses the name. */
    @Override
    public TransportVersion getMinimalSupportedVersion() {
        return TransportVersion.zero();
    }
}
