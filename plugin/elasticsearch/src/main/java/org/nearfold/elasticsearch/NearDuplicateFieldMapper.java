package org.nearfold.elasticsearch;

import org.apache.lucene.index.IndexableField;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.elasticsearch.common.xcontent.support.XContentMapValues;
import org.elasticsearch.index.mapper.DocumentParserContext;
import org.elasticsearch.index.mapper.FieldMapper;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.index.mapper.MapperBuilderContext;
import org.elasticsearch.index.mapper.SourceLoader;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.Columns;
import org.nearfold.lucene.Fingerprinters;
import org.nearfold.lucene.RecipeRegistry;
import org.nearfold.lucene.TextFingerprint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The field type {@code near_duplicate}: the fingerprint of a text, made again by the engine at
 * every write.
 *
 * <p>It is a multi-field of the text. Nothing of it is in {@code _source}: band keys are terms, the
 * sketch and what was counted are doc values ({@link Columns}).
 */
final class NearDuplicateFieldMapper extends FieldMapper {

    static final String CONTENT_TYPE = "near_duplicate";

    /**
     * A synthetic source needs nothing of the field and its columns: the text is loaded by its own
     * field.
     */
    static final SyntheticSourceSupport NOTHING_IN_SOURCE =
            new SyntheticSourceSupport.Native(() -> SourceLoader.SyntheticFieldLoader.NOTHING);

    private static final String DEFAULT_RECIPE = "default";

    private final RecipeRegistry recipes;
    private final Fingerprinters fingerprinters;
    private final int maxLength;
    private final List<Mapper> columns;

    private NearDuplicateFieldMapper(
            String simpleName,
            FieldType fieldType,
            BuilderParams parameters,
            Builder builder,
            List<Mapper> columns) {
        super(simpleName, fieldType, parameters);
        this.recipes = builder.recipes;
        this.fingerprinters = fieldType.fingerprinters;
        this.maxLength = builder.maxLength.getValue();
        this.columns = columns;
    }

    static TypeParser parser(RecipeRegistry recipes) {
        return new TypeParser((name, context) -> new Builder(name, recipes));
    }

    @Override
    protected void parseCreateField(DocumentParserContext context) throws IOException {
        String text = text(context.parser());
        if (text == null) {
            return;
        }
        String name = fullPath();
        TextFingerprint earlier = TextFingerprint.of(context.doc().getByKey(name));
        if (earlier != null) {
            earlier.add(text);
            return;
        }
        TextFingerprint fingerprint = new TextFingerprint(fingerprinters, maxLength);
        fingerprint.add(text);
        List<IndexableField> fields = fingerprint.fields(name);
        context.doc().addWithKey(name, fields.get(0));
        fields.subList(1, fields.size()).forEach(context.doc()::add);
    }

    private static String text(XContentParser parser) throws IOException {
        return parser.currentToken().isValue() ? parser.textOrNull() : null;
    }

    @Override
    public Iterator<Mapper> iterator() {
        List<Mapper> all = new ArrayList<>(columns);
        super.iterator().forEachRemaining(all::add);
        return all.iterator();
    }

    @Override
    public FieldMapper.Builder getMergeBuilder() {
        return new Builder(leafName(), recipes).init(this);
    }

    @Override
    protected SyntheticSourceSupport syntheticSourceSupport() {
        return NOTHING_IN_SOURCE;
    }

    @Override
    protected String contentType() {
        return CONTENT_TYPE;
    }

    private static NearDuplicateFieldMapper toType(FieldMapper mapper) {
        return (NearDuplicateFieldMapper) mapper;
    }

    /** Builds the mapper from its parameters. */
    private static final class Builder extends FieldMapper.Builder {

        private final RecipeRegistry recipes;
        private final Parameter<String> recipe;
        private final Parameter<String> recipeId;
        private final Parameter<Integer> maxLength;
        private final Parameter<Map<String, String>> meta = Parameter.metaParam();

        Builder(String name, RecipeRegistry recipes) {
            super(name);
            this.recipes = recipes;
            recipe =
                    new Parameter<>(
                                    "recipe",
                                    false,
                                    () -> recipes.get(DEFAULT_RECIPE).recipe().name(),
                                    (parameter, context, value) ->
                                            recipes.get(value.toString()).recipe().name(),
                                    mapper -> toType(mapper).fingerprinters.recipe().name(),
                                    XContentBuilder::field,
                                    Objects::toString)
                            .alwaysSerialize();
            recipeId =
                    new Parameter<>(
                                    "recipe_id",
                                    false,
                                    () -> recipe().id(),
                                    (parameter, context, value) -> value.toString(),
                                    mapper -> toType(mapper).fingerprinters.recipe().id(),
                                    XContentBuilder::field,
                                    Objects::toString)
                            .alwaysSerialize();
            recipeId.addValidator(id -> recipes.checkId(recipe.getValue(), id));
            maxLength =
                    new Parameter<>(
                            "max_length",
                            false,
                            () -> TextFingerprint.DEFAULT_MAX_LENGTH,
                            (parameter, context, value) ->
                                    XContentMapValues.nodeIntegerValue(value),
                            mapper -> toType(mapper).maxLength,
                            XContentBuilder::field,
                            Objects::toString);
            maxLength.addValidator(TextFingerprint::checkMaxLength);
        }

        private Recipe recipe() {
            return recipes.get(recipe.getValue()).recipe();
        }

        @Override
        protected Parameter<?>[] getParameters() {
            return new Parameter<?>[] {recipe, recipeId, maxLength, meta};
        }

        /** Returns the name of the type; from Elasticsearch 9 on this overrides. */
        public String contentType() {
            return CONTENT_TYPE;
        }

        @Override
        public NearDuplicateFieldMapper build(MapperBuilderContext context) {
            Fingerprinters fingerprinters = recipes.get(recipe.getValue());
            FieldType type =
                    new FieldType(
                            context.buildFullName(leafName()), fingerprinters, meta.getValue());
            return new NearDuplicateFieldMapper(
                    leafName(),
                    type,
                    builderParams(this, context),
                    this,
                    ColumnMapper.all(type.name(), fingerprinters.recipe()));
        }
    }

    /**
     * The field type: band keys by {@code term}, sketches by doc values, {@code exists} for every
     * text.
     */
    static final class FieldType extends KeysFieldType {

        private final Fingerprinters fingerprinters;

        FieldType(String name, Fingerprinters fingerprinters, Map<String, String> meta) {
            super(name, fingerprinters.recipe().slots() > 0, meta);
            this.fingerprinters = fingerprinters;
        }

        Fingerprinters fingerprinters() {
            return fingerprinters;
        }

        @Override
        public String typeName() {
            return CONTENT_TYPE;
        }

        @Override
        public Query existsQuery(SearchExecutionContext context) {
            return new FieldExistsQuery(Columns.of(name(), Columns.STATUS));
        }
    }
}
