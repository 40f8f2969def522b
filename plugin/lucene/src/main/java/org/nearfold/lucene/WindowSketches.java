package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.nearfold.core.Recipe;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The sketches and digests of hits, in order of rank. Not safe for use by several threads. */
public final class WindowSketches {

    /** The digest of a text without a visible character, which matches nothing. */
    private static final String EMPTY = "47DEQpj8HBSa-_TI";

    private final int length;
    private final byte[] sketches;
    private final boolean[] known;
    private final String[] digests;

    /**
     * Makes room for hits without sketches.
     *
     * @param size the number of hits
     * @param length of a sketch, in bytes
     */
    public WindowSketches(int size, int length) {
        this.length = length;
        sketches = new byte[size * length];
        known = new boolean[size];
        digests = new String[size];
    }

    /**
     * Reads the columns of the first hits of a shard, in order of documents.
     *
     * @param size how many hits
     */
    static WindowSketches read(
            IndexSearcher searcher,
            ScoreDoc[] hits,
            int size,
            NearFoldOptions options,
            Recipe recipe)
            throws IOException {
        WindowSketches window = new WindowSketches(size, options.sketchLength(recipe));
        Integer[] ranks = new Integer[size];
        Arrays.setAll(ranks, rank -> rank);
        Arrays.sort(ranks, Comparator.comparingInt(rank -> hits[rank].doc));
        List<LeafReaderContext> segments = searcher.getIndexReader().leaves();
        LeafReaderContext segment = null;
        ColumnReader columns = null;
        for (int rank : ranks) {
            int document = hits[rank].doc;
            if (segment == null || document >= segment.docBase + segment.reader().maxDoc()) {
                segment = segments.get(ReaderUtil.subIndex(document, segments));
                columns = new ColumnReader(segment.reader(), options, recipe);
            }
            columns.advance(document - segment.docBase);
            if (columns.sketch() != null) {
                window.put(rank, columns.sketch());
            }
            if (columns.exact() != null) {
                window.putDigest(rank, columns.exact());
            }
        }
        return window;
    }

    /** Sets the sketch of a hit. */
    public void put(int rank, byte[] sketch) {
        known[rank] = true;
        System.arraycopy(sketch, 0, sketches, rank * length, length);
    }

    /** Sets the digest of a hit's normalised text, as the column {@link Columns#EXACT} has it. */
    public void putDigest(int rank, String digest) {
        digests[rank] = digest.equals(EMPTY) ? null : digest;
    }

    int size() {
        return known.length;
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
