package org.nearfold.elasticsearch;

import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.elasticsearch.common.geo.ShapeRelation;
import org.elasticsearch.common.time.DateMathParser;
import org.elasticsearch.index.fielddata.FieldDataContext;
import org.elasticsearch.index.fielddata.IndexFieldData;
import org.elasticsearch.index.mapper.IndexType;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.NumberFieldMapper.NumberFieldType;
import org.elasticsearch.index.mapper.NumberFieldMapper.NumberType;
import org.elasticsearch.index.mapper.TextSearchInfo;
import org.elasticsearch.index.mapper.ValueFetcher;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.DocValueFormat;

import java.time.ZoneId;
import java.util.Collection;
import java.util.Map;

/**
 * The type of a column: as another type, but queries without field names pass over it, so that
 * nobody finds all complete texts by the word "complete". Of Elasticsearch 9.4 and later.
 */
final class ColumnFieldType extends MappedFieldType {

    private final MappedFieldType plain;

    /** Takes a type of doc values, and of terms if it {@code isIndexed}. */
    ColumnFieldType(MappedFieldType plain, boolean isIndexed) {
        super(
                plain.name(),
                isIndexed ? IndexType.terms(true, true) : IndexType.docValuesOnly(),
                false,
                Map.of());
        this.plain = plain;
    }

    /** Returns the type of an integer of doc values alone. */
    static MappedFieldType number(String name) {
        return new NumberFieldType(name, NumberType.INTEGER, false);
    }

    @Override
    public TextSearchInfo getTextSearchInfo() {
        return TextSearchInfo.NONE;
    }

    @Override
    public String typeName() {
        return plain.typeName();
    }

    @Override
    public ValueFetcher valueFetcher(SearchExecutionContext context, String format) {
        return ValueFetcher.EMPTY;
    }

    @Override
    public IndexFieldData.Builder fielddataBuilder(FieldDataContext context) {
        return plain.fielddataBuilder(context);
    }

    @Override
    public DocValueFormat docValueFormat(String format, ZoneId zone) {
        return plain.docValueFormat(format, zone);
    }

    @Override
    public Object valueForDisplay(Object value) {
        return plain.valueForDisplay(value);
    }

    @Override
    public Query termQuery(Object value, SearchExecutionContext context) {
        return plain.termQuery(value, context);
    }

    @Override
    public Query termsQuery(Collection<?> values, SearchExecutionContext context) {
        return plain.termsQuery(values, context);
    }

    @Override
    public Query rangeQuery(
            Object from,
            Object to,
            boolean includesFrom,
            boolean includesTo,
            ShapeRelation relation,
            ZoneId zone,
            DateMathParser parser,
            SearchExecutionContext context) {
        return plain.rangeQuery(
                from, to, includesFrom, includesTo, relation, zone, parser, context);
    }

    @Override
    public Query existsQuery(SearchExecutionContext context) {
        return new FieldExistsQuery(name());
    }
}
