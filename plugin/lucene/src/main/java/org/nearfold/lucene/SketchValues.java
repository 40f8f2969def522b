package org.nearfold.lucene;

import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.util.BytesRef;

import java.io.IOException;

/** The sketches of the documents of a segment, to be read in ascending order of documents. */
final class SketchValues {

    private final BinaryDocValues values;
    private final int length;
    private byte[] bytes;
    private int start;

    /** Takes the bytes that a sketch has; others are passed over. */
    SketchValues(LeafReader segment, String field, int length) throws IOException {
        values = DocValues.getBinary(segment, field);
        this.length = length;
    }

    /** Moves to a document; returns whether it has a sketch. */
    boolean advance(int document) throws IOException {
        if (values.advanceExact(document) == false) {
            return false;
        }
        BytesRef spelled = values.binaryValue();
        bytes = spelled.bytes;
        start = BinarySpelling.start(spelled);
        return start >= 0 && spelled.offset + spelled.length - start == length;
    }

    /** Returns the array with the sketch, which the next move may change. */
    byte[] bytes() {
        return bytes;
    }

    /** Returns the offset of the sketch in {@link #bytes}. */
    int start() {
        return start;
    }
}
