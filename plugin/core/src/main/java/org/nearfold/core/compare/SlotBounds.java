package org.nearfold.core.compare;

import org.nearfold.core.Recipe;

/**
 * The fewest equal slots of a pair of texts that slots do not rule out at a threshold of words in
 * order.
 *
 * <p>Measured by the Python package for pairs of real documents: together with the keys, slots miss
 * at most two in a thousand pairs at the threshold. The tables hold what its {@code fewest_equal}
 * returns for {@code lcs}, for the thresholds .50, .51 ... 1.
 */
public final class SlotBounds {

    private static final int FIRST = 50;
    private static final int[] DEFAULT_V1 =
            table(
                    "29 30 30 31 32 33 33 34 35 36 36 38 39 40 41 42 44 45 46 47 48 49 51 52 54 55"
                        + " 56 58 59 60 61 63 65 67 69 70 72 74 76 78 80 82 84 86 89 91 97 104 110"
                        + " 117 125");
    private static final int[] DEFAULT_V2 =
            table(
                    "20 21 22 22 23 24 24 25 26 26 27 21 20 21 22 22 23 24 25 27 28 29 31 32 34 36"
                        + " 37 39 41 43 45 47 50 52 54 57 60 63 66 69 72 76 80 84 88 93 98 103 109"
                        + " 116 125");
    private static final int[] SCANS_V1 =
            table(
                    "23 24 24 25 25 26 26 27 27 28 28 30 31 33 34 36 37 39 40 42 43 44 45 46 46 47"
                        + " 47 48 48 49 49 52 54 57 59 62 65 67 70 72 75 77 78 80 81 83 91 99 107"
                        + " 116 125");

    private SlotBounds() {}

    /**
     * Returns the fewest equal slots of a pair whose words in order may reach {@code min}; 0 where
     * none is known.
     */
    public static int fewestEqual(Recipe recipe, double min) {
        if (recipe.slots() == 0 || min < FIRST / 100.0) {
            return 0;
        }
        int[] table = table(recipe);
        int below = (int) Math.floor(100 * min + 1e-9) - FIRST;
        int above = (int) Math.ceil(100 * min - 1e-9) - FIRST;
        return Math.min(
                table[Math.min(below, table.length - 1)], table[Math.min(above, table.length - 1)]);
    }

    private static int[] table(Recipe recipe) {
        if (recipe.features() == Recipe.Features.WORD_PAIRS) {
            return DEFAULT_V2;
        }
        return recipe.width() == 4 ? DEFAULT_V1 : SCANS_V1;
    }

    private static int[] table(String numbers) {
        String[] every = numbers.split(" ");
        int[] table = new int[every.length];
        for (int i = 0; i < table.length; i++) {
            table[i] = Integer.parseInt(every[i]);
        }
        return table;
    }
}
