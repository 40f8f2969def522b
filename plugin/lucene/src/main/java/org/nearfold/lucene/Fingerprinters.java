package org.nearfold.lucene;

import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.sketch.Fingerprinter;

/** A fingerprinter of a recipe for each thread. Safe for use by several threads. */
public final class Fingerprinters {

    private final Recipe recipe;
    private final ThreadLocal<Fingerprinter> each;

    public Fingerprinters(Recipe recipe) {
        this.recipe = recipe;
        each = ThreadLocal.withInitial(() -> new Fingerprinter(recipe));
    }

    public Recipe recipe() {
        return recipe;
    }

    /** Returns the fingerprinter of the running thread. */
    public Fingerprinter get() {
        return each.get();
    }

    /** Returns the fingerprint of a text. */
    public Fingerprint fingerprint(String text) {
        return each.get().fingerprint(text);
    }
}
