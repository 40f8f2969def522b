package org.nearfold.lucene;

import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.StoredFieldVisitor;
import org.apache.lucene.index.StoredFields;

import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/**
 * Reads the ids of documents of a shard. A stored field of a document costs its decompression, so
 * that a node keeps the ids that it read lately, in a hundredth of its heap.
 *
 * <p>Not safe for use by several threads.
 */
public final class DocumentIds {

    private static final String FIELD = "_id";

    private static final DocumentCache<String> IDS =
            DocumentCache.ofIds(Runtime.getRuntime().maxMemory() / 100);

    private final IndexReader reader;
    private final List<LeafReaderContext> segments;
    private final Function<byte[], String> decode;
    private StoredFields stored;

    /** Takes the reader of the shard, and what the engine decodes its stored ids with. */
    public DocumentIds(IndexReader reader, Function<byte[], String> decode) {
        this.reader = reader;
        this.decode = decode;
        segments = reader.leaves();
    }

    /** Returns the id of a document of the shard's reader. */
    String read(int document) throws IOException {
        LeafReaderContext segment = segments.get(ReaderUtil.subIndex(document, segments));
        int local = document - segment.docBase;
        Object key = IDS.key(segment.reader());
        String id = key == null ? null : IDS.get(key, FIELD, local);
        if (id == null) {
            id = decode.apply(stored(document));
            if (key != null) {
                IDS.put(key, FIELD, local, id);
            }
        }
        return id;
    }

    private byte[] stored(int document) throws IOException {
        if (stored == null) {
            stored = reader.storedFields();
        }
        IdVisitor visitor = new IdVisitor();
        stored.document(document, visitor);
        return visitor.id;
    }

    /** Stops after the id, which stands before the source. */
    private static final class IdVisitor extends StoredFieldVisitor {

        private byte[] id;

        @Override
        public Status needsField(FieldInfo field) {
            if (id != null) {
                return Status.STOP;
            }
            return FIELD.equals(field.name) ? Status.YES : Status.NO;
        }

        @Override
        public void binaryField(FieldInfo field, byte[] value) {
            id = value;
        }
    }
}
