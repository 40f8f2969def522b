package org.nearfold.elasticsearch;

import org.elasticsearch.index.mapper.IndexType;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.TextSearchInfo;

import java.util.Map;

/** What the type of a field {@code near_duplicate} inherits. Of Elasticsearch 9.4 and later. */
abstract class SketchFieldType extends MappedFieldType {

    SketchFieldType(String name, boolean hasDocValues, Map<String, String> meta) {
        super(name, IndexType.terms(true, hasDocValues), false, meta);
    }

    @Override
    public TextSearchInfo getTextSearchInfo() {
        return TextSearchInfo.NONE;
    }
}
