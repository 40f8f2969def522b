package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;

import java.io.IOException;

/** Reads the stored text of a document. */
@FunctionalInterface
public interface TextReader {

    /** Returns the text, a list of texts a line each; null where there is none. */
    String read(LeafReaderContext segment, int document) throws IOException;
}
