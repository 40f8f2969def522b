package org.nearfold.opensearch;

import org.apache.lucene.search.Query;
import org.nearfold.core.Recipe;
import org.nearfold.lucene.Columns;
import org.opensearch.index.mapper.KeywordFieldMapper.KeywordFieldType;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.mapper.Mapper;
import org.opensearch.index.mapper.NumberFieldMapper.NumberFieldType;
import org.opensearch.index.mapper.NumberFieldMapper.NumberType;
import org.opensearch.index.mapper.ParametrizedFieldMapper;
import org.opensearch.index.mapper.ParseContext;
import org.opensearch.index.query.QueryShardContext;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A column below a field of type {@code near_duplicate}, such as {@code text.near.status}: a field
 * type to search and aggregate, without values of its own. {@link NearDuplicateFieldMapper} writes
 * them.
 */
final class ColumnMapper extends ParametrizedFieldMapper {

    private ColumnMapper(String simpleName, MappedFieldType type) {
        super(simpleName, type, MultiFields.empty(), CopyTo.empty());
    }

    /** Returns the columns of a field. */
    static List<Mapper> all(String field, Recipe recipe) {
        List<Mapper> columns = new ArrayList<>();
        columns.add(
                new ColumnMapper(Columns.STATUS, new Keyword(Columns.of(field, Columns.STATUS))));
        columns.add(new ColumnMapper(Columns.EXACT, new Keyword(Columns.of(field, Columns.EXACT))));
        columns.add(new ColumnMapper(Columns.WORDS, new Number(Columns.of(field, Columns.WORDS))));
        columns.add(new ColumnMapper(Columns.CHARS, new Number(Columns.of(field, Columns.CHARS))));
        if (recipe.hasSimHash()) {
            String simhash = Columns.of(field, Columns.SIMHASH);
            columns.add(
                    new ColumnMapper(
                            Columns.SIMHASH, new KeysFieldType(simhash, true, Map.of())));
        }
        return columns;
    }

    @Override
    protected void parseCreateField(ParseContext context) {
        throw new IllegalArgumentException(
                "field [" + name() + "] is made by the engine and takes no values");
    }

    @Override
    public ParametrizedFieldMapper.Builder getMergeBuilder() {
        MappedFieldType type = fieldType();
        return new ParametrizedFieldMapper.Builder(simpleName()) {
            @Override
            protected List<Parameter<?>> getParameters() {
                return List.of();
            }

            @Override
            public ParametrizedFieldMapper build(BuilderContext context) {
                return new ColumnMapper(name, type);
            }
        };
    }

    @Override
    protected String contentType() {
        return fieldType().typeName();
    }

    /**
     * Queries without field names go to every field that takes the empty term: throws what excludes
     * this one, so that nobody finds all complete texts by the word "complete".
     */
    static void refuseProbe(Object value) {
        if ("".equals(value)) {
            throw new UnsupportedOperationException(
                    "a column of a near_duplicate field has no empty terms");
        }
    }

    /** A keyword that queries without field names pass over. */
    private static final class Keyword extends KeywordFieldType {

        Keyword(String name) {
            super(name, true, true, Map.of());
        }

        @Override
        public Query termQuery(Object value, QueryShardContext context) {
            refuseProbe(value);
            return super.termQuery(value, context);
        }
    }

    /** A number of doc values alone that queries without field names pass over. */
    private static final class Number extends NumberFieldType {

        Number(String name) {
            super(name, NumberType.INTEGER);
        }

        /** Returns false: queries read the doc values, as there are no points. */
        @Override
        public boolean isSearchable() {
            return false;
        }

        @Override
        public Query termQuery(Object value, QueryShardContext context) {
            refuseProbe(value);
            return super.termQuery(value, context);
        }
    }
}
