package org.nearfold.lucene;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The options of the query {@code near_duplicate}.
 *
 * @param field of type {@code near_duplicate}
 * @param text that others are to be similar to; null before that of {@code document} is read
 * @param document whose text that is; null if the text was given
 * @param measure of similarity
 * @param min the minimum similarity, above 0 and at most 1
 * @param include whether the document itself is found, too
 */
public record NearDuplicateOptions(
        String field,
        String text,
        LikeDocument document,
        Measure measure,
        double min,
        boolean include) {

    /** The name of the query. */
    public static final String NAME = "near_duplicate";

    private static final double DEFAULT_MIN = 0.8;

    /** {@code boost} and {@code _name} are options of every query, which engines read. */
    private static final Set<String> OPTIONS =
            Set.of(
                    "field",
                    "like",
                    "measure",
                    "minimum_similarity",
                    "include",
                    "boost",
                    "_name");

    /**
     * Returns the options that a request gives.
     *
     * @throws IllegalArgumentException for an option that is unknown, missing or out of range
     */
    @SuppressWarnings("unchecked")
    public static NearDuplicateOptions of(Map<String, Object> request) {
        RequestOptions options = new RequestOptions(NAME, request, OPTIONS);
        LikeDocument document = null;
        String text = null;
        if (request.get("like") instanceof Map<?, ?> like) {
            document = LikeDocument.of((Map<String, Object>) like);
        } else {
            text = options.text("like");
        }
        String field = options.text("field");
        if (field == null || text == null && document == null) {
            throw new IllegalArgumentException(
                    "[" + NAME + "] needs [field], and [like] with a text or a document");
        }
        return new NearDuplicateOptions(
                field,
                text,
                document,
                options.measure(),
                options.minSimilarity(DEFAULT_MIN),
                options.flag("include"));
    }

    /** Returns the weight that a request gives the query. */
    public static float boost(Map<String, Object> request, float otherwise) {
        return (float) new RequestOptions(NAME, request, OPTIONS).number("boost", otherwise);
    }

    /** Returns what {@link #of} reads. */
    public Map<String, Object> toMap() {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("field", field);
        request.put("like", document == null ? text : document.toMap());
        request.put("measure", measure.label());
        request.put("minimum_similarity", min);
        request.put("include", include);
        return request;
    }

    /** Returns the same options with a document, whose text is null before it is read. */
    public NearDuplicateOptions with(LikeDocument like) {
        return new NearDuplicateOptions(field, like.text(), like, measure, min, include);
    }
}
