package org.nearfold.lucene;

import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SortedSetDocValues;
import org.nearfold.core.Recipe;

import java.io.IOException;
import java.util.Arrays;

/** The sketch and the digest of the documents of a segment, to be read in ascending order. */
public final class ColumnReader {

    private final SketchValues sketches;
    private final SortedSetDocValues digests;
    private final int length;
    private byte[] sketch;
    private String exact;

    /** Opens the columns that are needed to fold. */
    public ColumnReader(LeafReader segment, NearFoldOptions options, Recipe recipe)
            throws IOException {
        length = options.sketchLength(recipe);
        sketches = new SketchValues(segment, options.sketchColumn(), length);
        digests = DocValues.getSortedSet(segment, Columns.of(options.field(), Columns.EXACT));
    }

    /** Moves to a document. */
    public void advance(int document) throws IOException {
        sketch = null;
        exact = null;
        if (sketches.advance(document)) {
            sketch =
                    Arrays.copyOfRange(
                            sketches.bytes(), sketches.start(), sketches.start() + length);
        }
        if (digests.advanceExact(document)) {
            exact = digests.lookupOrd(digests.nextOrd()).utf8ToString();
        }
    }

    /** Returns the sketch of the document; null if it has none. */
    public byte[] sketch() {
        return sketch;
    }

    /** Returns the digest of the document's normalised text; null if it has no text. */
    public String exact() {
        return exact;
    }
}
