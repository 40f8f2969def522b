package org.nearfold.core.text;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;

import java.util.List;

public class TokensTests extends RandomizedTest {

    private static List<String> tokens(String text, String version) {
        Tokens tokens = Tokens.version(version);
        NormalText out = new NormalText();
        new Normaliser().normalise(text, tokens.form(), out);
        return tokens.of(out);
    }

    @Test
    public void testIdentifiersAndNumbersGo() {
        assertEquals(
                List.of("the", "b", "52s", "flew", "times", "see"),
                tokens("The B-52s flew 3 times, see https://example.org/b52", "v2"));
        assertEquals(List.of("b", "s"), tokens("B-52s", "v3"));
    }

    @Test
    public void testSpacingMarks() {
        assertEquals(List.of("ह", "न्द"), tokens("हिन्दी", "v1"));
        assertEquals(List.of("हिन्दी"), tokens("हिन्दी", "v2"));
    }

    @Test
    public void testScriptsWithoutSpaces() {
        assertEquals(List.of("東", "京", "タワー", "へ"), tokens("東京タワーへ", "v2"));
        assertEquals(List.of("東京", "京都"), tokens("東京都", "v4"));
    }

    @Test
    public void testUnknownVersion() {
        assertThrows(IllegalArgumentException.class, () -> Tokens.version("v9"));
    }

    /** A long chain of labels needs no stack. */
    @Test
    public void testHostileAddresses() {
        tokens("a@" + "a.".repeat(200_000) + "a", "v2");
        tokens("a".repeat(500_000) + "://x", "v2");
    }
}
