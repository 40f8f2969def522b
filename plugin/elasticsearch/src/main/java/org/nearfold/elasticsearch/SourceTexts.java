package org.nearfold.elasticsearch;

import org.apache.lucene.index.LeafReaderContext;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.lookup.Source;
import org.elasticsearch.search.lookup.SourceFilter;
import org.elasticsearch.search.lookup.SourceProvider;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.TextReader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Reads the texts that a field of type {@code near_duplicate} is made of from {@code _source}. */
final class SourceTexts implements TextReader {

    private final Set<String> paths;
    private final SourceProvider sources;

    /**
     * Checks that an index keeps the texts that a measure compares.
     *
     * @throws IllegalArgumentException if it does not
     */
    static void check(SearchExecutionContext context, Measure measure) {
        if (measure == Measure.LCS && context.isSourceEnabled() == false) {
            throw new IllegalArgumentException(
                    "measure [lcs] compares texts, and index ["
                            + context.index().getName()
                            + "] keeps none, as its [_source] is disabled; use [slots]");
        }
    }

    /** Takes the field; a multi-field has the text of its parent. */
    SourceTexts(SearchExecutionContext context, String field) {
        paths = new TreeSet<>(context.sourcePath(field));
        sources =
                Versions.sources(
                        context, new SourceFilter(paths.toArray(String[]::new), new String[0]));
    }

    @Override
    public String read(LeafReaderContext segment, int document) throws IOException {
        Source source = sources.getSource(segment, document);
        List<String> texts = new ArrayList<>();
        for (String path : paths) {
            collect(source.extractValue(path, null), texts);
        }
        return texts.isEmpty() ? null : String.join("\n", texts);
    }

    /** Adds the texts of a value of a source, of a list those of its elements. */
    static void collect(Object value, List<String> texts) {
        if (value instanceof List<?> list) {
            list.forEach(one -> collect(one, texts));
        } else if (value != null) {
            texts.add(value.toString());
        }
    }
}
