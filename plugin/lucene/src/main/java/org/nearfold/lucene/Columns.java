package org.nearfold.lucene;

import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.IndexOptions;

/**
 * The Lucene fields behind a field of type {@code near_duplicate}: band keys as terms and the slots
 * as binary doc values under its own name, the rest below it.
 */
public final class Columns {

    /** Below the name of the field: what became of the text, as a keyword. */
    public static final String STATUS = "status";

    /** The digest of the normalised text, as a keyword of 16 characters. */
    public static final String EXACT = "exact";

    /** The number of words. */
    public static final String WORDS = "words";

    /** The number of code points of the normalised text. */
    public static final String CHARS = "chars";

    /** The 64 bits of a SimHash as binary doc values, and their block keys as terms. */
    public static final String SIMHASH = "simhash";

    /** Terms without frequencies and norms, one or more of a document. */
    static final FieldType KEYS = terms(DocValuesType.NONE);

    /** A term that is a doc value, too. */
    static final FieldType KEYWORD = terms(DocValuesType.SORTED_SET);

    static final FieldType BINARY = values(DocValuesType.BINARY);
    static final FieldType NUMBER = values(DocValuesType.SORTED_NUMERIC);

    private Columns() {}

    /** Returns the full name of a column of a field. */
    public static String of(String field, String column) {
        return field + "." + column;
    }

    /** An untokenised type, which engines index without looking for an analyser. */
    private static FieldType terms(DocValuesType values) {
        FieldType type = values(DocValuesType.NONE);
        FieldType terms = new FieldType(type);
        terms.setIndexOptions(IndexOptions.DOCS);
        terms.setOmitNorms(true);
        terms.setTokenized(false);
        terms.setDocValuesType(values);
        terms.freeze();
        return terms;
    }

    private static FieldType values(DocValuesType values) {
        FieldType type = new FieldType();
        type.setDocValuesType(values);
        type.freeze();
        return type;
    }
}
