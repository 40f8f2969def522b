package org.nearfold.elasticsearch;

import org.elasticsearch.index.mapper.DocumentParserContext;
import org.elasticsearch.index.mapper.FieldMapper;
import org.elasticsearch.index.mapper.KeywordFieldMapper.KeywordFieldType;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.index.mapper.MapperBuilderContext;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.Columns;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A column below a field of type {@code near_duplicate}, such as {@code text.near.status}: a field
 * type to search and aggregate, without values of its own. {@link NearDuplicateFieldMapper} writes
 * them.
 */
final class ColumnMapper extends FieldMapper {

    private ColumnMapper(String simpleName, MappedFieldType type) {
        super(simpleName, type, BuilderParams.empty());
    }

    /** Returns the columns of a field. */
    static List<Mapper> all(String field, Recipe recipe) {
        List<Mapper> columns = new ArrayList<>();
        columns.add(keyword(field, Columns.STATUS));
        columns.add(keyword(field, Columns.EXACT));
        columns.add(number(field, Columns.WORDS));
        columns.add(number(field, Columns.CHARS));
        if (recipe.hasSimHash()) {
            String simhash = Columns.of(field, Columns.SIMHASH);
            columns.add(new ColumnMapper(Columns.SIMHASH, new KeysFieldType(simhash, true, Map.of())));
        }
        return columns;
    }

    private static Mapper keyword(String field, String column) {
        MappedFieldType plain = new KeywordFieldType(Columns.of(field, column));
        return new ColumnMapper(column, new ColumnFieldType(plain, true));
    }

    private static Mapper number(String field, String column) {
        return new ColumnMapper(
                column,
                new ColumnFieldType(ColumnFieldType.number(Columns.of(field, column)), false));
    }

    @Override
    protected void parseCreateField(DocumentParserContext context) {
        throw new IllegalArgumentException(
                "field [" + fullPath() + "] is made by the engine and takes no values");
    }

    @Override
    public FieldMapper.Builder getMergeBuilder() {
        MappedFieldType type = fieldType();
        return new FieldMapper.Builder(leafName()) {
            @Override
            protected Parameter<?>[] getParameters() {
                return new Parameter<?>[0];
            }

            /** Returns the name of the type; from Elasticsearch 9 on this overrides. */
            public String contentType() {
                return type.typeName();
            }

            @Override
            public FieldMapper build(MapperBuilderContext context) {
                return new ColumnMapper(leafName(), type);
            }
        };
    }

    @Override
    protected String contentType() {
        return fieldType().typeName();
    }

    @Override
    protected SyntheticSourceSupport syntheticSourceSupport() {
        return NearDuplicateFieldMapper.NOTHING_IN_SOURCE;
    }
}
