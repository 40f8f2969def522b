package org.nearfold.core.compare;

import org.nearfold.core.Recipe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Similarity by stored sketches. */
public final class Slots {

    private static final double CHANCE = 1.0 / 256;

    /** Slots after which it is checked whether enough can still be equal. */
    private static final int CHECKED = 32;

    private static final VarHandle INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** All bits of each byte but the highest. */
    private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;

    private Slots() {}

    /**
     * Returns the equal slots of two sketches of the same recipe, as {@link Recipe#sketchBytes}
     * says, each given by an array and the offset of its first byte.
     */
    public static int equal(
            Recipe recipe, byte[] left, int leftStart, byte[] right, int rightStart) {
        return equal(recipe, left, leftStart, right, rightStart, 0);
    }

    /**
     * Returns the equal slots of two sketches, or any smaller number when they are fewer than
     * {@code min}.
     */
    public static int equal(
            Recipe recipe, byte[] left, int leftStart, byte[] right, int rightStart, int min) {
        int size = recipe.isPacked() ? 1 : Integer.BYTES;
        int slots = recipe.slots();
        int equal = 0;
        for (int slot = 0; slot < slots; slot += CHECKED) {
            if (equal + slots - slot < min) {
                return equal;
            }
            int end = Math.min(slot + CHECKED, slots);
            equal +=
                    size == 1
                            ? equalBytes(
                                    left, leftStart + slot, right, rightStart + slot, end - slot)
                            : equalInts(
                                    left,
                                    leftStart + size * slot,
                                    right,
                                    rightStart + size * slot,
                                    end - slot);
        }
        return equal;
    }

    /** Returns the equal bytes of two runs, of {@link #CHECKED} or another multiple of eight. */
    private static int equalBytes(
            byte[] left, int leftStart, byte[] right, int rightStart, int count) {
        int equal = 0;
        for (int i = 0; i < count; i += Long.BYTES) {
            long different =
                    (long) LONGS.get(left, leftStart + i) ^ (long) LONGS.get(right, rightStart + i);
            long highBits = (different & LOW_BITS) + LOW_BITS | different | LOW_BITS;
            equal += Long.bitCount(~highBits);
        }
        return equal;
    }

    private static int equalInts(
            byte[] left, int leftStart, byte[] right, int rightStart, int count) {
        int equal = 0;
        for (int i = 0; i < Integer.BYTES * count; i += Integer.BYTES) {
            equal +=
                    (int) INTS.get(left, leftStart + i) == (int) INTS.get(right, rightStart + i)
                            ? 1
                            : 0;
        }
        return equal;
    }

    /**
     * Returns the Jaccard similarity of the features that so many equal slots estimate, in [0, 1],
     * corrected for the 1 in 256 different slots of one byte that agree by chance.
     */
    public static double similarity(Recipe recipe, int equal) {
        double fraction = (double) equal / recipe.slots();
        return recipe.isPacked() ? Math.max(0, (fraction - CHANCE) / (1 - CHANCE)) : fraction;
    }

    /** Returns the fewest equal slots whose {@link #similarity} is {@code min} or more. */
    public static int fewestEqual(Recipe recipe, double min) {
        int equal = 0;
        while (equal < recipe.slots() && similarity(recipe, equal) < min) {
            equal++;
        }
        return equal;
    }
}
