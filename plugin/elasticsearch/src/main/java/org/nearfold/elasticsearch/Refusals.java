package org.nearfold.elasticsearch;

import org.elasticsearch.xcontent.XContentParser;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What requests are refused for. */
final class Refusals {

    private static final String NO_POLICY = "none";

    private Refusals() {}

    /**
     * Returns a threshold.
     *
     * @throws IllegalArgumentException unless it is above 0 and at most 1
     */
    static double checkSimilarity(double min) {
        if (min > 0 && min <= 1) {
            return min;
        }
        throw new IllegalArgumentException(
                "[minimum_similarity] is above 0 and at most 1, not " + min);
    }

    /**
     * Reads a policy or marks, which decide about pairs by their facts: the plugin has none, and
     * never approximates one.
     *
     * @throws IllegalArgumentException unless there are none, or the policy is {@code none}
     */
    static void refuse(String option, XContentParser parser) throws IOException {
        List<String> names = new ArrayList<>();
        if (parser.currentToken() == XContentParser.Token.START_ARRAY) {
            while (parser.nextToken() != XContentParser.Token.END_ARRAY) {
                names.add(parser.text());
            }
        } else {
            names.add(parser.text());
        }
        if (option.equals("policy") && names.equals(List.of(NO_POLICY)) || names.isEmpty()) {
            return;
        }
        String verb = option.equals("policy") ? "is" : "are";
        throw new IllegalArgumentException(
                option
                        + " "
                        + names
                        + " "
                        + verb
                        + " not in this plugin; fold by nearfold, or leave ["
                        + option
                        + "] out");
    }
}
