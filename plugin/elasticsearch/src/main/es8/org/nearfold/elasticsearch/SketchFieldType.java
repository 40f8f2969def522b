package org.nearfold.elasticsearch;

import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.TextSearchInfo;

import java.util.Map;

/** What the type of a field {@code near_duplicate} inherits. Of Elasticsearch 8.19. */
abstract class SketchFieldType extends MappedFieldType {

    SketchFieldType(String name, boolean hasDocValues, Map<String, String> meta) {
        super(name, true, false, hasDocValues, TextSearchInfo.NONE, meta);
    }
}
