package org.nearfold.lucene;

import org.nearfold.core.Recipe;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * How hits are folded.
 *
 * @param field of type {@code near_duplicate}
 * @param measure of similarity
 * @param min the minimum similarity of folded hits, above 0 and at most 1
 * @param maxMembers the most folded hits of a shown one that are listed; all are counted
 * @param request names the request and the shard; null before that is known
 */
public record NearFoldOptions(
        String field, Measure measure, double min, int maxMembers, String request) {

    /** The name of the rescorer, and of the field of its hits. */
    public static final String NAME = "near_fold";

    private static final double DEFAULT_MIN = 0.9;
    private static final int DEFAULT_MEMBERS = 10;
    private static final int MAX_MEMBERS = 1_000;
    private static final Set<String> OPTIONS =
            Set.of("field", "measure", "minimum_similarity", "max_members");

    /**
     * Returns the options that a request gives.
     *
     * @throws IllegalArgumentException for an option that is unknown, missing or out of range
     */
    public static NearFoldOptions of(Map<String, Object> request) {
        RequestOptions options = new RequestOptions(NAME, request, OPTIONS);
        String field = options.text("field");
        if (field == null) {
            throw new IllegalArgumentException("[" + NAME + "] needs [field]");
        }
        double members = options.number("max_members", DEFAULT_MEMBERS);
        if (members < 0 || members > MAX_MEMBERS) {
            throw new IllegalArgumentException(
                    "[max_members] is 0 to " + MAX_MEMBERS + ", not " + (long) members);
        }
        return new NearFoldOptions(
                field,
                options.measure(),
                options.minSimilarity(DEFAULT_MIN),
                (int) members,
                null);
    }

    /** Returns what {@link #of} reads. */
    public Map<String, Object> toMap() {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("field", field);
        request.put("measure", measure.label());
        request.put("minimum_similarity", min);
        request.put("max_members", maxMembers);
        return request;
    }

    /** Returns the same options of a named request. */
    public NearFoldOptions named(String name) {
        return new NearFoldOptions(field, measure, min, maxMembers, name);
    }

    /** Returns the column with the sketches that the measure compares. */
    public String sketchColumn() {
        return measure == Measure.HAMMING ? Columns.of(field, Columns.SIMHASH) : field;
    }

    /** Returns the bytes of such a sketch. */
    public int sketchLength(Recipe recipe) {
        return measure == Measure.HAMMING ? Long.BYTES : recipe.sketchBytes();
    }
}
