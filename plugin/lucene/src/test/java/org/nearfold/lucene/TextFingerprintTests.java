package org.nearfold.lucene;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.apache.lucene.util.BytesRef;
import org.junit.Test;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;

public class TextFingerprintTests extends RandomizedTest {

    private final Fingerprinters fingerprinters = new Fingerprinters(Recipe.named("default_v2"));

    private TextFingerprint of(int limit, String... texts) {
        TextFingerprint fingerprint = new TextFingerprint(fingerprinters, limit);
        for (String text : texts) {
            fingerprint.add(text);
        }
        return fingerprint;
    }

    @Test
    public void testListOfTextsIsOneText() {
        String expected = fingerprinters.fingerprint("one two three\nfour five").hexDigest();
        assertEquals(expected, of(100, "one two three", "four five").get().hexDigest());
    }

    @Test
    public void testTextBeyondTheLimit() {
        assertEquals(Status.TRUNCATED, of(20, "one two three four five six").get().status());
        assertEquals(Status.TRUNCATED, of(20, "one two three four", "five six").get().status());
        assertEquals(Status.COMPLETE, of(27, "one two three four five six").get().status());
    }

    @Test
    public void testFieldsKnowWhatMadeThem() {
        TextFingerprint fingerprint = of(100, "a text");
        assertSame(fingerprint, TextFingerprint.of(fingerprint.fields("near").get(0)));
        assertNull(TextFingerprint.of(null));
    }

    @Test
    public void testSpellingOfBinaryValues() {
        for (int length : new int[] {1, 8, 127, 128, 512, 20_000}) {
            byte[] value = randomBytesOfLength(length);
            BytesRef spelled = BinarySpelling.encode(value);
            int start = BinarySpelling.start(spelled);
            assertEquals(
                    new BytesRef(value),
                    new BytesRef(spelled.bytes, start, spelled.length - start));
        }
        assertTrue(BinarySpelling.start(BinarySpelling.encode(null)) < 0);
    }
}
