package org.nearfold.lucene;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The foldings of running requests of a node, from the query phase to the fetch phase of a shard.
 *
 * <p>A folding is removed when it is read. Of requests that fetch nothing from a shard the oldest
 * are dropped. Safe for use by several threads.
 */
public final class Foldings {

    private static final int MOST = 1_000;

    private final Map<String, Folding> foldings =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Folding> eldest) {
                    return size() > MOST;
                }
            };

    /** Keeps the folding of a request and shard. */
    public synchronized void put(String request, Folding folding) {
        foldings.put(request, folding);
    }

    /** Returns the folding of a request and shard, and forgets it; null if it is not known. */
    public synchronized Folding remove(String request) {
        return foldings.remove(request);
    }

    /** Returns how many foldings are kept. */
    public synchronized int size() {
        return foldings.size();
    }
}
