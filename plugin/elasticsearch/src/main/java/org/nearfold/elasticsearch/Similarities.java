package org.nearfold.elasticsearch;

/** Thresholds in requests. */
final class Similarities {

    private Similarities() {}

    /**
     * Returns a threshold.
     *
     * @throws IllegalArgumentException unless it is above 0 and at most 1
     */
    static double check(double min) {
        if (min > 0 && min <= 1) {
            return min;
        }
        throw new IllegalArgumentException("[minimum_similarity] is above 0 and at most 1, not " + min);
    }
}
