package org.nearfold.lucene;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The document that others are to be similar to, and once it was read its text. */
public final class LikeDocument {

    private static final Set<String> OPTIONS = Set.of("_index", "_id", "routing");

    private final String index;
    private final String id;
    private final String routing;
    private final String text;
    private final boolean isRequested;

    /** On the coordinating node alone, once the document was read. */
    private volatile LikeDocument found;

    /** Takes null for {@code routing} where there is none, for {@code text} before it is read. */
    public LikeDocument(String index, String id, String routing, String text) {
        this(index, id, routing, text, false);
    }

    private LikeDocument(
            String index, String id, String routing, String text, boolean isRequested) {
        this.index = index;
        this.id = id;
        this.routing = routing;
        this.text = text;
        this.isRequested = isRequested;
    }

    /**
     * Returns the document that a request names.
     *
     * @throws IllegalArgumentException for an unknown option, or without index and id
     */
    static LikeDocument of(Map<String, Object> request) {
        RequestOptions options = new RequestOptions("like", request, OPTIONS);
        String index = options.text("_index");
        String id = options.text("_id");
        if (index == null || id == null) {
            throw new IllegalArgumentException("[like] needs [_index] and [_id] of a document");
        }
        return new LikeDocument(index, id, options.text("routing"), null);
    }

    /** Returns what {@link #of} reads. */
    Map<String, Object> toMap() {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("_index", index);
        request.put("_id", id);
        if (routing != null) {
            request.put("routing", routing);
        }
        return request;
    }

    /** Returns the name of its index. */
    public String index() {
        return index;
    }

    /** Returns its id. */
    public String id() {
        return id;
    }

    /** Returns its routing; null if none was given. */
    public String routing() {
        return routing;
    }

    /** Returns its text; null before it is read. */
    public String text() {
        return text;
    }

    /** Returns whether it is being read. */
    public boolean isRequested() {
        return isRequested;
    }

    /** Returns the document with its text; null while it is being read. */
    public LikeDocument found() {
        return found;
    }

    /** Returns the same document, marked as being read. */
    public LikeDocument request() {
        return new LikeDocument(index, id, routing, null, true);
    }

    /** Keeps the document that was read. */
    public void setFound(LikeDocument document) {
        found = document;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LikeDocument like
                && index.equals(like.index)
                && id.equals(like.id)
                && isRequested == like.isRequested
                && Objects.equals(routing, like.routing);
    }

    @Override
    public int hashCode() {
        return Objects.hash(index, id, routing, isRequested);
    }
}
