package org.nearfold.elasticsearch;

import org.apache.lucene.index.Term;
import org.apache.lucene.search.FieldExistsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.index.fielddata.FieldDataContext;
import org.elasticsearch.index.fielddata.IndexFieldData;
import org.elasticsearch.index.mapper.BinaryFieldMapper.BinaryFieldType;
import org.elasticsearch.index.mapper.ValueFetcher;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.DocValueFormat;

import java.time.ZoneId;
import java.util.Collection;
import java.util.Map;

/** Keys as terms, found by {@code term} and {@code terms}, and a sketch as binary doc values. */
class KeysFieldType extends SketchFieldType {

    KeysFieldType(String name, boolean hasDocValues, Map<String, String> meta) {
        super(name, hasDocValues, meta);
    }

    @Override
    public String typeName() {
        return "binary";
    }

    @Override
    public ValueFetcher valueFetcher(SearchExecutionContext context, String format) {
        return ValueFetcher.EMPTY; // nothing of it is in the source; docvalue_fields have it
    }

    @Override
    public DocValueFormat docValueFormat(String format, ZoneId zone) {
        return DocValueFormat.BINARY;
    }

    @Override
    public IndexFieldData.Builder fielddataBuilder(FieldDataContext context) {
        failIfNoDocValues();
        return new BinaryFieldType(name()).fielddataBuilder(context);
    }

    @Override
    public boolean isAggregatable() {
        return false;
    }

    @Override
    public Query termQuery(Object value, SearchExecutionContext context) {
        return new TermQuery(new Term(name(), key(value)));
    }

    /** Returns one query of all keys, of which there may be more than clauses in a query. */
    @Override
    public Query termsQuery(Collection<?> values, SearchExecutionContext context) {
        return new TermInSetQuery(name(), values.stream().map(KeysFieldType::key).toList());
    }

    @Override
    public Query existsQuery(SearchExecutionContext context) {
        return new FieldExistsQuery(name());
    }

    private static BytesRef key(Object value) {
        return value instanceof BytesRef bytes ? bytes : new BytesRef(value.toString());
    }
}
