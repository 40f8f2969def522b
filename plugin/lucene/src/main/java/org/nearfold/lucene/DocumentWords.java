package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.nearfold.core.compare.WordReader;
import org.nearfold.core.compare.Words;

import java.io.IOException;

/** Reads the words of documents. Not safe for use by several threads. */
final class DocumentWords {

    private final String field;
    private final TextReader texts;
    private final DocumentCache<Words> cache;
    private final WordReader reader = new WordReader();

    /** Takes what reads the texts of a field of type {@code near_duplicate}. */
    DocumentWords(String field, TextReader texts) {
        this.field = field;
        this.texts = texts;
        cache = texts.cache();
    }

    /** Returns the words of a document; null where it has no text. */
    Words read(LeafReaderContext segment, int document) throws IOException {
        Object key = cache.key(segment.reader());
        Words words = key == null ? null : cache.get(key, field, document);
        if (words != null) {
            return words;
        }
        String text = texts.read(segment, document);
        if (text == null) {
            return null;
        }
        words = reader.read(text);
        if (key != null) {
            cache.put(key, field, document, words);
        }
        return words;
    }
}
