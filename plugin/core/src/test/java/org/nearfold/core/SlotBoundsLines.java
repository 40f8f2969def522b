package org.nearfold.core;

import org.nearfold.core.compare.SlotBounds;

/** Prints the bounds of a recipe, one of each hundredth from .50 to 1. */
public final class SlotBoundsLines {

    private SlotBoundsLines() {}

    public static void main(String[] arguments) {
        Recipe recipe = Recipe.named(arguments[0]);
        for (int hundredth = 50; hundredth <= 100; hundredth++) {
            System.out.println(SlotBounds.fewestEqual(recipe, hundredth / 100.0));
        }
    }
}
