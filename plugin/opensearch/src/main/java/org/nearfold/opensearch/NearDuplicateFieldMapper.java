package org.nearfold.opensearch;

import org.apache.lucene.index.IndexableField;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.Columns;
import org.nearfold.lucene.Fingerprinters;
import org.nearfold.lucene.RecipeRegistry;
import org.nearfold.lucene.TextFingerprint;
import org.opensearch.common.xcontent.support.XContentMapValues;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.index.mapper.FieldMapper;
import org.opensearch.index.mapper.Mapper;
import org.opensearch.index.mapper.ParametrizedFieldMapper;
import org.opensearch.index.mapper.ParseContext;
import org.opensearch.index.query.QueryShardContext;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The field type {@code near_duplicate}: the fingerprint of a text, made again by the engine at
 * every write.
 *
 * <p>It is a multi-field of the text. Nothing of it is in {@code _source}: band keys are terms, the
 * sketch and what was counted are doc values ({@link Columns}).
 */
final class NearDuplicateFieldMapper extends ParametrizedFieldMapper {

    static final String CONTENT_TYPE = "near_duplicate";

    private static final String DEFAULT_RECIPE = "default";

    private final RecipeRegistry recipes;
    private final Fingerprinters fingerprinters;
    private final int maxLength;
    private final List<Mapper> columns;

    private NearDuplicateFieldMapper(
            String simpleName,
            FieldType fieldType,
            MultiFields multiFields,
            CopyTo copyTo,
            Builder builder,
            List<Mapper> columns) {
        super(simpleName, fieldType, multiFields, copyTo);
        this.recipes = builder.recipes;
        this.fingerprinters = fieldType.fingerprinters;
        this.maxLength = builder.maxLength.getValue();
        this.columns = columns;
    }

    static TypeParser parser(RecipeRegistry recipes) {
        return new TypeParser((name, context) -> new Builder(name, recipes));
    }

    @Override
    protected void parseCreateField(ParseContext context) throws IOException {
        String text =
                context.externalValueSet()
                        ? String.valueOf(context.externalValue())
                        : text(context.parser());
        if (text == null) {
            return;
        }
        String name = fieldType().name();
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
    public ParametrizedFieldMapper.Builder getMergeBuilder() {
        return new Builder(simpleName(), recipes).init(this);
    }

    @Override
    protected String contentType() {
        return CONTENT_TYPE;
    }

    private static NearDuplicateFieldMapper toType(FieldMapper mapper) {
        return (NearDuplicateFieldMapper) mapper;
    }

    /** Builds the mapper from its parameters. */
    private static final class Builder extends ParametrizedFieldMapper.Builder {

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
                                    mapper -> toType(mapper).fingerprinters.recipe().name())
                            .alwaysSerialize();
            recipeId =
                    new Parameter<>(
                                    "recipe_id",
                                    false,
                                    () -> recipe().id(),
                                    (parameter, context, value) -> value.toString(),
                                    mapper -> toType(mapper).fingerprinters.recipe().id())
                            .alwaysSerialize();
            recipeId.setValidator(id -> recipes.checkId(recipe.getValue(), id));
            maxLength =
                    new Parameter<>(
                            "max_length",
                            false,
                            () -> TextFingerprint.DEFAULT_MAX_LENGTH,
                            (parameter, context, value) ->
                                    XContentMapValues.nodeIntegerValue(value),
                            mapper -> toType(mapper).maxLength);
            maxLength.setValidator(TextFingerprint::checkMaxLength);
        }

        private Recipe recipe() {
            return recipes.get(recipe.getValue()).recipe();
        }

        @Override
        protected List<Parameter<?>> getParameters() {
            return List.of(recipe, recipeId, maxLength, meta);
        }

        @Override
        public NearDuplicateFieldMapper build(BuilderContext context) {
            Fingerprinters fingerprinters = recipes.get(recipe.getValue());
            FieldType type = new FieldType(buildFullName(context), fingerprinters, meta.getValue());
            return new NearDuplicateFieldMapper(
                    name,
                    type,
                    multiFieldsBuilder.build(this, context),
                    copyTo.build(),
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
        public Query existsQuery(QueryShardContext context) {
            return new FieldExistsQuery(Columns.of(name(), Columns.STATUS));
        }
    }
}
