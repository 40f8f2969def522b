package org.nearfold.lucene;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;

/** The sketches and digests of the hits of a window, read in order of documents and kept in order of rank. */
final class WindowSketches {

    /** The digest of a text without a visible character, which matches nothing. */
    private static final String EMPTY = "47DEQpj8HBSa-_TI";

    private final int length;
    private final byte[] sketches;
    private final boolean[] known;
    private final String[] digests;

    /**
     * Reads the columns of hits.
     *
     * @param column of the sketches
     * @param length of a sketch, in bytes
     */
    WindowSketches(IndexSearcher searcher, ScoreDoc[] hits, int size, String field, String column, int length)
        throws IOException {
        this.length = length;
        sketches = new byte[size * length];
        known = new boolean[size];
        digests = new String[size];
        Integer[] ranks = new Integer[size];
        Arrays.setAll(ranks, rank -> rank);
        Arrays.sort(ranks, Comparator.comparingInt(rank -> hits[rank].doc));
        List<LeafReaderContext> segments = searcher.getIndexReader().leaves();
        LeafReaderContext segment = null;
        SketchValues values = null;
        SortedSetDocValues exact = null;
        for (int rank : ranks) {
            int document = hits[rank].doc;
            if (segment == null || document >= segment.docBase + segment.reader().maxDoc()) {
                segment = segments.get(ReaderUtil.subIndex(document, segments));
                values = new SketchValues(segment.reader(), column, length);
                exact = DocValues.getSortedSet(segment.reader(), Columns.of(field, Columns.EXACT));
            }
            if (values.advance(document - segment.docBase)) {
                known[rank] = true;
                System.arraycopy(values.bytes(), values.start(), sketches, rank * length, length);
            }
            if (exact.advanceExact(document - segment.docBase)) {
                String digest = exact.lookupOrd(exact.nextOrd()).utf8ToString();
                digests[rank] = digest.equals(EMPTY) ? null : digest;
            }
        }
    }

    /** Returns whether two hits have the same normalised text. */
    boolean isCopy(int left, int right) {
        return digests[left] != null && digests[left].equals(digests[right]);
    }

    boolean isKnown(int rank) {
        return known[rank];
    }

    byte[] bytes() {
        return sketches;
    }

    int start(int rank) {
        return rank * length;
    }
}
