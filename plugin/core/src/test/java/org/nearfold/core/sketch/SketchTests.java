package org.nearfold.core.sketch;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;
import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;

import java.nio.charset.StandardCharsets;
import java.util.List;

public class SketchTests extends RandomizedTest {

    private static Longs longs(long... values) {
        Longs list = new Longs();
        for (long value : values) {
            list.add(value);
        }
        return list;
    }

    @Test
    public void testMix() {
        assertEquals(0x5692161d100b05e5L, Mix64.mix(1));
    }

    @Test
    public void testJenkins() {
        byte[] key = "Four score and seven years ago".getBytes(StandardCharsets.US_ASCII);
        assertEquals(0xce7226e617770551L, Jenkins.hash(key));
        assertEquals(0xdeadbeefdeadbeefL, Jenkins.hash(new byte[0]));
    }

    @Test
    public void testSimHashIsTheMajorityOfEachBit() {
        for (int round = 0; round < 100; round++) {
            int count = randomIntBetween(1, 300);
            long[] hashes = new long[count];
            int[] ones = new int[64];
            for (int i = 0; i < count; i++) {
                hashes[i] = randomLong();
                for (int bit = 0; bit < 64; bit++) {
                    ones[bit] += (int) (hashes[i] >>> bit & 1);
                }
            }
            long expected = 0;
            for (int bit = 0; bit < 64; bit++) {
                expected |= 2 * ones[bit] > count ? 1L << bit : 0;
            }
            assertEquals(expected, new SimHash().of(longs(hashes)));
        }
    }

    @Test
    public void testSketchOfASetIgnoresOrderAndRepeats() {
        FastSimilaritySketch sketch = new FastSimilaritySketch(128);
        long[] once = sketch.sketch(longs(5, 3, -9)).clone();
        assertArrayEquals(once, sketch.sketch(longs(-9, 5, 3, 5, 5)));
    }

    @Test
    public void testBlockKeys() {
        assertEquals(
                List.of("000123", "014567", "0289ab", "03cdef"),
                Keys.ofMasks(0x0123456789ABCDEFL, Blocks.equal(4)).strings());
        assertEquals(16, Blocks.design("4/1,4/1").length);
        assertEquals(28, Blocks.design("8/2").length);
        assertEquals(0, Keys.ofMasks(1, Blocks.equal(0)).size());
    }

    @Test
    public void testStatus() {
        Fingerprinter fingerprinter = new Fingerprinter(Recipe.named("default_v2"));
        assertEquals(Status.EMPTY, fingerprinter.fingerprint(" \u200b\n").status());
        assertEquals(Status.TOO_SHORT, fingerprinter.fingerprint("near duplicates").status());
        Fingerprint numbers = fingerprinter.fingerprint("1 2 3 4");
        assertEquals(Status.NUMBERS_ONLY, numbers.status());
        assertTrue(numbers.isSigned());
        assertEquals(
                Status.COMPLETE,
                fingerprinter.fingerprint("nearfold folds near duplicates").status());
    }

    /** A text does not depend on those before it. */
    @Test
    public void testMemoryIsUsedAgain() {
        for (String name : new String[] {"default_v1", "default_v2", "scans", "simhash-doc-v4"}) {
            Fingerprinter reused = new Fingerprinter(Recipe.named(name));
            for (int round = 0; round < 50; round++) {
                String text = randomRealisticUnicodeOfCodepointLengthBetween(0, 400);
                Fingerprint fresh = new Fingerprinter(Recipe.named(name)).fingerprint(text);
                Fingerprint again = reused.fingerprint(text);
                assertEquals(fresh.hexDigest(), again.hexDigest());
                assertEquals(fresh.bands().strings(), again.bands().strings());
                assertEquals(fresh.simhash(), again.simhash());
            }
        }
    }

    @Test
    public void testLargeTextsLeaveNoMemoryBehind() {
        Fingerprinter fingerprinter = new Fingerprinter(Recipe.named("default_v2"));
        String text = "word ".repeat(400_000);
        assertEquals(400_000, fingerprinter.fingerprint(text).words());
        assertEquals(4, fingerprinter.fingerprint("four words are here").words());
    }
}
