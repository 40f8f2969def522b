package org.nearfold.elasticsearch;

import org.nearfold.lucene.HitWindow;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.TextReader;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.xcontent.support.XContentMapValues;
import org.elasticsearch.search.SearchHit;

import java.util.List;
import java.util.Map;

/** The hits of a response in the order of their ranks. */
record RankedHits(SearchHit[] hits, String field) implements HitWindow.Hits {

    @Override
    public int size() {
        return hits.length;
    }

    @Override
    public String index(int rank) {
        return hits[rank].getIndex();
    }

    @Override
    public String id(int rank) {
        return hits[rank].getId();
    }

    @Override
    @SuppressWarnings("unchecked")
    public Map<String, Object> field(int rank) {
        DocumentField field = hits[rank].field(NearFoldOptions.NAME);
        return field == null ? null : (Map<String, Object>) field.getValue();
    }

    @Override
    public String text(int rank) {
        return hits[rank].hasSource() ? text(hits[rank].getSourceAsMap(), field) : null;
    }

    /** Returns the text of a field of type {@code near_duplicate}; null if there is none. */
    static String text(Map<String, Object> source, String field) {
        return TextReader.find(field, path -> XContentMapValues.extractValue(path, source));
    }

    @Override
    public void setField(int rank, Map<String, Object> value) {
        Versions.setField(hits[rank], new DocumentField(NearFoldOptions.NAME, List.of(value)));
    }

    @Override
    public void clearScore(int rank) {
        hits[rank].score(0);
    }
}
