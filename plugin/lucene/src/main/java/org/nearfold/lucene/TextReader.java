package org.nearfold.lucene;

import java.io.IOException;
import org.apache.lucene.index.LeafReaderContext;

/** Reads the stored text of a document. */
@FunctionalInterface
public interface TextReader {

    /** Returns the text, a list of texts a line each; null where there is none. */
    String read(LeafReaderContext segment, int document) throws IOException;
}
