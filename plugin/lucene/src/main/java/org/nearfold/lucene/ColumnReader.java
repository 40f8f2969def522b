package org.nearfold.lucene;

import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SortedSetDocValues;
import org.nearfold.core.Recipe;

import java.io.IOException;
import java.util.Arrays;

/** The sketch and the digest of the documents of a segment, to be read in ascending order. */
public final class ColumnReader {

    /** The number of no digest. */
    static final long NONE = -1;

    private final SketchValues sketches;
    private final SortedSetDocValues digests;
    private final int length;
    private byte[] sketch;
    private long ordinal;

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
        if (sketches.advance(document)) {
            sketch =
                    Arrays.copyOfRange(
                            sketches.bytes(), sketches.start(), sketches.start() + length);
        }
        ordinal = digests.advanceExact(document) ? digests.nextOrd() : NONE;
    }

    /** Returns the sketch of the document; null if it has none. */
    public byte[] sketch() {
        return sketch;
    }

    /** Returns the number of the document's digest; {@link #NONE} if it has no text. */
    long ordinal() {
        return ordinal;
    }

    /**
     * Returns the digest of a normalised text by its number, which costs more than the number; null
     * for {@link #NONE}.
     */
    String digest(long number) throws IOException {
        return number == NONE ? null : digests.lookupOrd(number).utf8ToString();
    }

    /** Returns the digest of the document's normalised text; null if it has no text. */
    public String exact() throws IOException {
        return digest(ordinal);
    }
}
