package org.nearfold.lucene;

import org.nearfold.core.Recipe;

/**
 * How hits are folded.
 *
 * @param field of type {@code near_duplicate}
 * @param measure of similarity
 * @param min the least similarity of folded hits, above 0 and at most 1
 * @param maxMembers the most folded hits of a shown one that are listed; all are counted
 * @param request names the request and the shard; null before that is known
 */
public record NearFoldOptions(
        String field, Measure measure, double min, int maxMembers, String request) {

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
