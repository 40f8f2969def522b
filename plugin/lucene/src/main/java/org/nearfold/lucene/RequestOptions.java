package org.nearfold.lucene;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The options of a query or a rescorer, as a request gives them. */
final class RequestOptions {

    private static final Set<String> REFUSED = Set.of("policy", "marks");
    private static final String NO_POLICY = "none";

    private final String name;
    private final Map<String, Object> options;

    /**
     * Takes the name of the query or rescorer, and its options.
     *
     * @throws IllegalArgumentException for an option that is not known, or without a value
     */
    RequestOptions(String name, Map<String, Object> options, Set<String> known) {
        this.name = name;
        this.options = options;
        for (String option : options.keySet()) {
            if (REFUSED.contains(option)) {
                refuse(option);
            } else if (known.contains(option) == false) {
                throw new IllegalArgumentException(
                        "[" + name + "] does not support [" + option + "]");
            } else if (options.get(option) == null) {
                throw new IllegalArgumentException(
                        "[" + name + "] needs a value of [" + option + "]");
            }
        }
    }

    /** Returns one value as text; null where the option is absent. */
    String text(String option) {
        Object value = options.get(option);
        if (value instanceof Map || value instanceof List) {
            throw new IllegalArgumentException(
                    "[" + name + "] takes one value of [" + option + "]");
        }
        return value == null ? null : value.toString();
    }

    /** Returns a number, which may be given as text. */
    double number(String option, double otherwise) {
        String value = text(option);
        return value == null ? otherwise : Double.parseDouble(value);
    }

    /** Returns a truth value; false where the option is absent. */
    boolean flag(String option) {
        String value = text(option);
        if (value == null || value.equals("false")) {
            return false;
        }
        if (value.equals("true")) {
            return true;
        }
        throw new IllegalArgumentException(
                "[" + option + "] is true or false, not [" + value + "]");
    }

    /** Returns the measure, which is {@code lcs} unless another is named. */
    Measure measure() {
        String value = text("measure");
        return value == null ? Measure.LCS : Measure.named(value);
    }

    /** Returns the threshold, which is above 0 and at most 1. */
    double minSimilarity(double otherwise) {
        double min = number("minimum_similarity", otherwise);
        if (min > 0 && min <= 1) {
            return min;
        }
        throw new IllegalArgumentException(
                "[minimum_similarity] is above 0 and at most 1, not " + min);
    }

    /**
     * Refuses a policy or marks, which decide about pairs by their facts: the plugin has none, and
     * never approximates one. An empty list and the policy {@code none} ask for nothing.
     */
    private void refuse(String option) {
        Object value = options.get(option);
        List<?> names = value instanceof List<?> list ? list : List.of(String.valueOf(value));
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
