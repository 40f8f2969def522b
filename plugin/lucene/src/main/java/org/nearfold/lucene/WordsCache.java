package org.nearfold.lucene;

import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.nearfold.core.compare.Words;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The words of stored texts that were compared lately, in as many bytes as it is given: decompressing
 * and normalising a text takes longer than comparing it.
 *
 * <p>A segment never changes, so that nothing becomes stale; words of segments that are gone are
 * replaced in their turn. Safe for use by several threads.
 */
public final class WordsCache {

    /** Keeps nothing. */
    public static final WordsCache NONE = new WordsCache(0);

    private static final long ENTRY_BYTES = 96;
    private static final long BYTES_A_SLOT = 1 << 10;
    private static final int MAX_SLOTS = 1 << 24;

    private final long maxBytes;
    private final AtomicReferenceArray<Entry> slots;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger next = new AtomicInteger();

    /** The words of a field of a document of a segment. */
    private record Entry(Object segment, String field, int document, Words words) {

        boolean isOf(Object otherSegment, String otherField, int otherDocument) {
            return segment == otherSegment
                    && document == otherDocument
                    && field.equals(otherField);
        }

        long bytes() {
            boolean isPlain = words.plain() == words.written();
            return ENTRY_BYTES + Integer.BYTES * (long) words.size() * (isPlain ? 1 : 2);
        }
    }

    /** Takes the bytes that may be used. */
    public WordsCache(long maxBytes) {
        this.maxBytes = maxBytes;
        long wanted = Math.min(MAX_SLOTS, Math.max(1, maxBytes / BYTES_A_SLOT));
        slots = new AtomicReferenceArray<>(Integer.highestOneBit((int) wanted));
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

    /** Returns the words of a document; null if they are not there. */
    Words get(Object segment, String field, int document) {
        Entry entry = slots.get(slot(segment, field, document));
        return entry != null && entry.isOf(segment, field, document) ? entry.words() : null;
    }

    /** Keeps the words of a document, in the place of others when they are too many. */
    void put(Object segment, String field, int document, Words words) {
        Entry entry = new Entry(segment, field, document, words);
        if (entry.bytes() > maxBytes / 4) {
            return;
        }
        replace(slot(segment, field, document), entry);
        while (bytes.get() > maxBytes) {
            replace(next.getAndIncrement() & slots.length() - 1, null);
        }
    }

    private void replace(int slot, Entry entry) {
        Entry old = slots.getAndSet(slot, entry);
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
