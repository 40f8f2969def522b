package org.nearfold.core.text;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;

import java.nio.charset.StandardCharsets;

public class NormaliserTests extends RandomizedTest {

    private final Normaliser normaliser = new Normaliser();
    private final NormalText out = new NormalText();

    private String normal(String text, Form form) {
        normaliser.normalise(text, form, out);
        return new String(out.utf8(), 0, out.utf8Length(), StandardCharsets.UTF_8);
    }

    @Test
    public void testVersionOne() {
        assertEquals(
                "nearduplicatesfindσσ",
                normal("Ｎear-\n Dupli\u00adcates  ﬁnd \u03a3\u03c2", Form.DEFAULT_V1));
        assertEquals("a-b--cd-", normal("a-b -- c- \t\r\nd-", Form.DEFAULT_V1));
    }

    @Test
    public void testVersionTwo() {
        String text = "> Ｎear  Dupli\u00adcates, hyphen-\n ated:  (STRASSE) Straße; 近似 重複!";
        assertEquals(
                "near duplicates hyphenated strasse strasse近似重複", normal(text, Form.DEFAULT_V2));
        assertEquals(9, out.words());
        assertEquals("", normal(" ... ", Form.DEFAULT_V2));
        assertEquals("1 2", normal("1, 2", Form.DEFAULT_V2));
        assertFalse(out.hasLetters());
    }

    @Test
    public void testRunsOfAsciiJoinWhatStandsBesideThem() {
        assertEquals("e a long run of é", normal("e a long run of e\u0301", Form.DEFAULT_V2));
        assertEquals("e a long run of é", normal("e a long run of e-\n\u0301", Form.DEFAULT_V2));
        assertEquals(
                "近a long run近似a long run",
                normal("近 a long run. 近..........似 a long run", Form.DEFAULT_V2));
        assertEquals("é é", normal("é..........é", Form.DEFAULT_V2));
        assertEquals("éx", normal("é-\n-\n-\n-\n-\n-\n-\nx", Form.DEFAULT_V2));
    }

    @Test
    public void testLoneSurrogates() {
        assertEquals("\ufffd", normal("\ud800", Form.VERBATIM));
        assertEquals("", normal("\udc00\ud800", Form.DEFAULT_V2));
    }

    @Test
    public void testWithoutIgnorables() {
        assertEquals("Softly ﬁne", normal("Soft\u00adly ﬁne", Form.VISIBLE));
        assertEquals("softly fine", normal("Soft\u00adly ﬁne", Form.FOLDED));
    }

    /** The result does not depend on where runs of ASCII begin and end. */
    @Test
    public void testPartsNormaliseAsTheWhole() {
        for (int round = 0; round < 200; round++) {
            String left = randomAsciiLettersOfLengthBetween(0, 20);
            String right = randomRealisticUnicodeOfCodepointLengthBetween(0, 20);
            String whole = normal(left + " . " + right, Form.DEFAULT_V1);
            assertEquals(
                    whole, normal(left, Form.DEFAULT_V1) + "." + normal(right, Form.DEFAULT_V1));
        }
    }
}
