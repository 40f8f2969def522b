package org.nearfold.core.compare;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;
import org.nearfold.core.Recipe;

import java.util.Arrays;

public class SlotsTests extends RandomizedTest {

    private final Recipe packed = Recipe.named("default_v2");
    private final Recipe wide = Recipe.named("default_v1");

    @Test
    public void testEqualSlots() {
        byte[] left = randomBytesOfLength(512);
        byte[] right = left.clone();
        right[7]++;
        right[130]++;
        assertEquals(126, Slots.equal(wide, left, 0, right, 0));
        assertEquals(127, Slots.equal(packed, left, 0, right, 0));
        assertEquals(127, Slots.equal(packed, left, 128, right, 128));
    }

    @Test
    public void testItStopsWhenTooFewCanBeEqual() {
        byte[] left = new byte[128];
        byte[] right = new byte[128];
        Arrays.fill(right, 0, 64, (byte) 1);
        assertEquals(64, Slots.equal(packed, left, 0, right, 0, 64));
        assertTrue(Slots.equal(packed, left, 0, right, 0, 65) < 65);
    }

    @Test
    public void testChanceIsTakenOff() {
        assertEquals(1, Slots.similarity(packed, 128), 0);
        assertEquals(0, Slots.similarity(packed, 0), 0);
        assertEquals((0.5 - 1 / 256.0) / (1 - 1 / 256.0), Slots.similarity(packed, 64), 1e-12);
        assertEquals(0.5, Slots.similarity(wide, 64), 0);
    }

    @Test
    public void testFewestEqualReachesTheThreshold() {
        for (int hundredth = 1; hundredth <= 100; hundredth++) {
            int fewest = Slots.fewestEqual(packed, hundredth / 100.0);
            assertTrue(Slots.similarity(packed, fewest) >= hundredth / 100.0);
            assertTrue(Slots.similarity(packed, fewest - 1) < hundredth / 100.0);
        }
    }

    @Test
    public void testBoundsOfWordsInOrder() {
        assertEquals(0, SlotBounds.fewestEqual(packed, 0.3));
        assertEquals(45, SlotBounds.fewestEqual(packed, 0.8));
        assertEquals(72, SlotBounds.fewestEqual(packed, 0.905));
        assertEquals(125, SlotBounds.fewestEqual(packed, 1));
        assertEquals(0, SlotBounds.fewestEqual(Recipe.named("simhash-doc"), 0.9));
    }
}
