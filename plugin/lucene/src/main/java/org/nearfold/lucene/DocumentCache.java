package org.nearfold.lucene;

import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.nearfold.core.compare.Words;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToLongFunction;

/**
 * What was read of documents lately, in as many bytes as it is given: the words of their texts, as
 * decompressing and normalising a text takes longer than comparing it, or their ids.
 *
 * <p>A segment never changes, so that nothing becomes stale; values of segments that are gone are
 * replaced in their turn. Safe for use by several threads.
 *
 * @param <V> the type of a value, which must not change
 */
public final class DocumentCache<V> {

    private static final long ENTRY_BYTES = 96;
    private static final long WORDS_BYTES = 1 << 10;
    private static final long ID_BYTES = 1 << 8;
    private static final int MAX_SLOTS = 1 << 24;

    private final long maxBytes;
    private final ToLongFunction<V> size;
    private final AtomicReferenceArray<Entry<V>> slots;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger next = new AtomicInteger();

    /** The value of a field of a document of a segment. */
    private record Entry<V>(Object segment, String field, int document, V value, long bytes) {

        boolean isOf(Object otherSegment, String otherField, int otherDocument) {
            return segment == otherSegment
                    && document == otherDocument
                    && field.equals(otherField);
        }
    }

    private DocumentCache(long maxBytes, long usualBytes, ToLongFunction<V> size) {
        this.maxBytes = maxBytes;
        this.size = size;
        long wanted = Math.min(MAX_SLOTS, Math.max(1, maxBytes / usualBytes));
        slots = new AtomicReferenceArray<>(Integer.highestOneBit((int) wanted));
    }

    /** Returns a cache of words that takes so many bytes; of 0 bytes one that keeps nothing. */
    public static DocumentCache<Words> ofWords(long maxBytes) {
        return new DocumentCache<>(maxBytes, WORDS_BYTES, DocumentCache::bytes);
    }

    /** Returns a cache of ids that takes so many bytes. */
    static DocumentCache<String> ofIds(long maxBytes) {
        return new DocumentCache<>(maxBytes, ID_BYTES, id -> (long) Character.BYTES * id.length());
    }

    private static long bytes(Words words) {
        boolean isPlain = words.plain() == words.written();
        return Integer.BYTES * (long) words.size() * (isPlain ? 1 : 2);
    }

    /**
     * Returns the key of a segment; null where nothing may be kept, as a reader that is not the
     * engine's own may hide texts from those who search.
     */
    Object key(LeafReader segment) {
        LeafReader reader = segment;
        while (maxBytes > 0 && reader instanceof FilterLeafReader filter && isOfEngine(filter)) {
            reader = filter.getDelegate();
        }
        IndexReader.CacheHelper helper = segment.getCoreCacheHelper();
        boolean isKept = maxBytes > 0 && reader instanceof FilterLeafReader == false;
        return isKept && helper != null ? helper.getKey() : null;
    }

    private static boolean isOfEngine(FilterLeafReader reader) {
        String name = reader.getClass().getName();
        return name.startsWith("org.apache.lucene.")
                || name.startsWith("org.opensearch.common.lucene.")
                || name.startsWith("org.opensearch.search.internal.")
                || name.startsWith("org.elasticsearch.common.lucene.")
                || name.startsWith("org.elasticsearch.search.internal.");
    }

    /** Returns the value of a document; null if it is not there. */
    V get(Object segment, String field, int document) {
        Entry<V> entry = slots.get(slot(segment, field, document));
        return entry != null && entry.isOf(segment, field, document) ? entry.value() : null;
    }

    /** Keeps the value of a document, in the place of others when they are too many. */
    void put(Object segment, String field, int document, V value) {
        long taken = ENTRY_BYTES + size.applyAsLong(value);
        Entry<V> entry = new Entry<>(segment, field, document, value, taken);
        if (entry.bytes() > maxBytes / 4) {
            return;
        }
        replace(slot(segment, field, document), entry);
        while (bytes.get() > maxBytes) {
            replace(next.getAndIncrement() & slots.length() - 1, null);
        }
    }

    private void replace(int slot, Entry<V> entry) {
        Entry<V> old = slots.getAndSet(slot, entry);
        long added = entry == null ? 0 : entry.bytes();
        bytes.addAndGet(added - (old == null ? 0 : old.bytes()));
    }

    /** Returns the bytes that are used. */
    long bytes() {
        return bytes.get();
    }

    private int slot(Object segment, String field, int document) {
        int hash = 31 * (31 * System.identityHashCode(segment) + field.hashCode()) + document;
        hash *= 0x9E3779B9;
        return (hash ^ hash >>> 15) & slots.length() - 1;
    }
}
