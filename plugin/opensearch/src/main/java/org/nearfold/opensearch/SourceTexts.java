package org.nearfold.opensearch;

import org.apache.lucene.index.LeafReaderContext;
import org.nearfold.core.compare.Words;
import org.nearfold.lucene.DocumentCache;
import org.nearfold.lucene.Measure;
import org.nearfold.lucene.TextReader;
import org.opensearch.index.fieldvisitor.FieldsVisitor;
import org.opensearch.index.query.QueryShardContext;
import org.opensearch.search.lookup.SourceLookup;

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

    /**
     * Checks that an index keeps the texts that a measure compares.
     *
     * @throws IllegalArgumentException if it does not
     */
    static void check(QueryShardContext context, Measure measure) {
        boolean isKept =
                context.getMapperService().documentMapper().sourceMapper().enabled();
        measure.checkSource(isKept, context.index().getName());
    }

    /** Takes the field; a multi-field has the text of its parent. */
    SourceTexts(QueryShardContext context, String field) {
        paths = new TreeSet<>(context.sourcePath(field));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Unlike a {@link SourceLookup} it decompresses no whole block of stored fields: documents
     * that are compared are hardly ever next to each other.
     */
    @Override
    public String read(LeafReaderContext segment, int document) throws IOException {
        FieldsVisitor visitor = new FieldsVisitor(true);
        segment.reader().storedFields().document(document, visitor);
        if (visitor.source() == null) {
            return null;
        }
        SourceLookup source = new SourceLookup();
        source.setSource(visitor.source());
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
