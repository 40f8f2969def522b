package org.nearfold.lucene;

import org.nearfold.core.Recipe;

import java.util.Locale;

/** How similar two texts are. */
public enum Measure {
    /** The Jaccard similarity of the features, estimated by equal slots of the sketches. */
    SLOTS,
    /**
     * The words in order over the words of the longer text: texts decide what slots do not rule
     * out.
     */
    LCS,
    /** One minus the fraction of different bits of the SimHashes. */
    HAMMING;

    private static final String NAMES = "slots, lcs, hamming";

    /** Returns the name in requests. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the measure of a name.
     *
     * @throws IllegalArgumentException for a measure that the plugin lacks; the message names what
     *     there is
     */
    public static Measure named(String name) {
        for (Measure measure : values()) {
            if (measure.label().equals(name)) {
                return measure;
            }
        }
        throw new IllegalArgumentException(
                "measure [" + name + "] is not in this plugin, which has " + NAMES);
    }

    /**
     * Checks that a recipe has the sketch that this measure needs.
     *
     * @throws IllegalArgumentException if it has not
     */
    public void check(Recipe recipe, String field) {
        boolean fits = this == HAMMING ? recipe.hasSimHash() : recipe.slots() > 0;
        if (fits == false) {
            throw new IllegalArgumentException(
                    "measure ["
                            + label()
                            + "] needs a "
                            + (this == HAMMING ? "SimHash" : "MinHash")
                            + ", which recipe ["
                            + recipe.name()
                            + "] of field ["
                            + field
                            + "] does not make");
        }
    }

    /**
     * Checks that an index keeps the texts that this measure compares.
     *
     * @throws IllegalArgumentException if it does not
     */
    public void checkSource(boolean isKept, String index) {
        if (this == LCS && isKept == false) {
            throw new IllegalArgumentException(
                    "measure [lcs] compares texts, and index ["
                            + index
                            + "] keeps none, as its [_source] is disabled; use [slots]");
        }
    }
}
