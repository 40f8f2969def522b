package org.nearfold.elasticsearch;

import org.apache.lucene.index.LeafReaderContext;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.lookup.Source;
import org.elasticsearch.search.lookup.SourceFilter;
import org.elasticsearch.search.lookup.SourceProvider;
import org.nearfold.core.compare.Words;
import org.nearfold.lucene.DocumentCache;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.TextReader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Reads the texts that a field of type {@code near_duplicate} is made of from {@code _source}. */
final class SourceTexts implements TextReader {

    /** The words of all indices of the node, in a twentieth of its heap. */
    private static final DocumentCache<Words> WORDS =
            DocumentCache.ofWords(Runtime.getRuntime().maxMemory() / 20);

    private final Set<String> paths;
    private final SourceProvider sources;

    /**
     * Checks that an index keeps the texts that a measure compares.
     *
     * @throws IllegalArgumentException if it does not
     */
    static void check(SearchExecutionContext context, Measure measure) {
        measure.checkSource(context.isSourceEnabled(), context.index().getName());
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
        List<Object> values = new ArrayList<>();
        for (String path : paths) {
            values.add(source.extractValue(path, null));
        }
        return TextReader.join(values);
    }

    @Override
    public DocumentCache<Words> cache() {
        return WORDS;
    }
}
