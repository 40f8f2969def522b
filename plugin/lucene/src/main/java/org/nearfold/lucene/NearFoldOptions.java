package org.nearfold.lucene;

/**
 * How a shard folds.
 *
 * @param field of type {@code near_duplicate}
 * @param measure of similarity
 * @param min the least similarity of folded hits, above 0 and at most 1
 * @param maxMembers the most folded hits of a shown one that are listed; all are counted
 * @param request names the request and the shard
 */
public record NearFoldOptions(String field, Measure measure, double min, int maxMembers, String request) {}
