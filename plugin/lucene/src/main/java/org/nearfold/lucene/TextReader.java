package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.nearfold.core.compare.Words;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Reads the stored text of a document. */
@FunctionalInterface
public interface TextReader {

    /** Returns the text, a list of texts a line each; null where there is none. */
    String read(LeafReaderContext segment, int document) throws IOException;

    /** Returns where the words of the texts may be kept. */
    default DocumentCache<Words> cache() {
        return DocumentCache.ofWords(0);
    }

    /**
     * Returns the text of a value of a source, a list of texts a line each; null if there is none.
     */
    static String join(Object value) {
        List<String> texts = new ArrayList<>();
        collect(value, texts);
        return texts.isEmpty() ? null : String.join("\n", texts);
    }

    private static void collect(Object value, List<String> texts) {
        if (value instanceof List<?> list) {
            list.forEach(one -> collect(one, texts));
        } else if (value != null) {
            texts.add(value.toString());
        }
    }

    /**
     * Returns the text of a field of type {@code near_duplicate}: what is under its name, or under
     * that of the field that it is a multi-field of; null if there is none.
     *
     * @param values reads the value of a path from a source
     */
    static String find(String field, Function<String, Object> values) {
        String text = join(values.apply(field));
        int dot = field.lastIndexOf('.');
        return text == null && dot > 0 ? join(values.apply(field.substring(0, dot))) : text;
    }
}
