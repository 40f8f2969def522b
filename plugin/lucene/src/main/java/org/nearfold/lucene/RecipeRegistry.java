package org.nearfold.lucene;

import org.nearfold.core.Recipe;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The recipes of a node, each with the fingerprinters of all its fields. Safe for use by several
 * threads.
 */
public final class RecipeRegistry {

    private final Function<String, String> secrets;
    private final Map<String, Fingerprinters> known = new ConcurrentHashMap<>();

    /** Takes what gives the secret of a key's name; null where there is none. */
    public RecipeRegistry(Function<String, String> secrets) {
        this.secrets = secrets;
    }

    /**
     * Returns the fingerprinters of a recipe.
     *
     * @throws IllegalArgumentException for an unknown recipe, and for a key without secret
     */
    public Fingerprinters get(String name) {
        Fingerprinters found = known.get(name);
        return found != null ? found : known.computeIfAbsent(name, this::make);
    }

    /**
     * Checks that a recipe has the id that an index was made with: a key's secret is part of it.
     *
     * @throws IllegalArgumentException if it has another one
     */
    public void checkId(String name, String id) {
        String own = get(name).recipe().id();
        if (own.equals(id) == false) {
            throw new IllegalArgumentException(
                    "recipe ["
                            + name
                            + "] has the id ["
                            + own
                            + "] on this node, not ["
                            + id
                            + "]; give every node the secret key that the index was made with");
        }
    }

    private Fingerprinters make(String name) {
        return new Fingerprinters(Recipe.named(name, secrets));
    }
}
