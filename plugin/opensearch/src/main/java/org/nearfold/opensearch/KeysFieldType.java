package org.nearfold.opensearch;

import org.apache.lucene.index.Term;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.BytesRef;
import org.opensearch.index.fielddata.IndexFieldData;
import org.opensearch.index.fielddata.plain.BytesBinaryIndexFieldData;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.mapper.TextSearchInfo;
import org.opensearch.index.mapper.ValueFetcher;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.search.DocValueFormat;
import org.opensearch.search.aggregations.support.CoreValuesSourceType;
import org.opensearch.search.lookup.SearchLookup;

import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Keys as terms, found by {@code term} and {@code terms}, and a sketch as binary doc values. */
class KeysFieldType extends MappedFieldType {

    KeysFieldType(String name, boolean hasDocValues, Map<String, String> meta) {
        super(name, true, false, hasDocValues, TextSearchInfo.NONE, meta);
    }

    @Override
    public String typeName() {
        return "binary";
    }

    @Override
    public ValueFetcher valueFetcher(
            QueryShardContext context, SearchLookup lookup, String format) {
        return source -> List.of(); // nothing of it is in the source; docvalue_fields have it
    }

    @Override
    public DocValueFormat docValueFormat(String format, ZoneId zone) {
        return DocValueFormat.BINARY;
    }

    @Override
    public IndexFieldData.Builder fielddataBuilder(String index, Supplier<SearchLookup> lookup) {
        failIfNoDocValues();
        return new BytesBinaryIndexFieldData.Builder(name(), CoreValuesSourceType.BYTES);
    }

    @Override
    public boolean isAggregatable() {
        return false;
    }

    @Override
    public Query termQuery(Object value, QueryShardContext context) {
        return new TermQuery(new Term(name(), key(value)));
    }

    /** Returns one query of all keys, of which there may be more than clauses in a query. */
    @Override
    public Query termsQuery(List<?> values, QueryShardContext context) {
        return new TermInSetQuery(name(), values.stream().map(KeysFieldType::key).toList());
    }

    @Override
    public Query existsQuery(QueryShardContext context) {
        return new FieldExistsQuery(name());
    }

    private static BytesRef key(Object value) {
        ColumnMapper.refuseProbe(value);
        return value instanceof BytesRef bytes ? bytes : new BytesRef(value.toString());
    }
}
