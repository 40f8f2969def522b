package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.nearfold.core.Recipe;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The sketches and digests of hits, in order of rank. Not safe for use by several threads. */
public final class WindowSketches {

    /** The digest of a text without a visible character, which matches nothing. */
    private static final String EMPTY = "47DEQpj8HBSa-_TI";

    private static final int NONE = -1;

    private final int length;
    private final byte[] sketches;
    private final boolean[] known;

    /** For each digest the first hit that it was set of. */
    private final Map<String, Integer> firsts = new HashMap<>();

    /** Of each hit the first with its digest; {@link #NONE} for a hit without a digest. */
    private final int[] copies;

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
        copies = new int[size];
        Arrays.fill(copies, NONE);
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
        ColumnReader[] readers = new ColumnReader[size];
        long[] digests = new long[size];
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
            readers[rank] = columns;
            digests[rank] = columns.ordinal();
        }
        BitSet alone = recipe.features() == Recipe.Features.TOKENS ? new BitSet() : window.alone();
        for (int rank = alone.nextClearBit(0); rank < size; rank = alone.nextClearBit(rank + 1)) {
            String digest = readers[rank].digest(digests[rank]);
            if (digest != null) {
                window.putDigest(rank, digest);
            }
        }
        return window;
    }

    /**
     * Returns the hits whose sketch no other hit has: where a sketch depends on what the digest is
     * of, they are copies of none, and their digests need not be read.
     */
    private BitSet alone() {
        Map<ByteBuffer, Integer> earlier = new HashMap<>();
        BitSet alone = new BitSet(known.length);
        for (int rank = 0; rank < known.length; rank++) {
            if (known[rank]) {
                Integer other = earlier.put(ByteBuffer.wrap(sketches, start(rank), length), rank);
                alone.set(rank, other == null);
                if (other != null) {
                    alone.clear(other);
                }
            }
        }
        return alone;
    }

    /** Sets the sketch of a hit. */
    public void put(int rank, byte[] sketch) {
        known[rank] = true;
        System.arraycopy(sketch, 0, sketches, rank * length, length);
    }

    /** Sets the digest of a hit's normalised text, as the column {@link Columns#EXACT} has it. */
    public void putDigest(int rank, String digest) {
        if (digest.equals(EMPTY) == false) {
            copies[rank] = firsts.computeIfAbsent(digest, any -> rank);
        }
    }

    int size() {
        return known.length;
    }

    /** Returns whether two hits have the same normalised text. */
    boolean isCopy(int left, int right) {
        return copies[left] != NONE && copies[left] == copies[right];
    }

    /** Returns one hit for all those with the normalised text of this one. */
    int firstCopy(int rank) {
        return copies[rank] == NONE ? rank : copies[rank];
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
