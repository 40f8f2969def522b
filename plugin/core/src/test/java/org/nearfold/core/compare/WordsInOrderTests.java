package org.nearfold.core.compare;

import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;

import java.util.Arrays;

public class WordsInOrderTests extends RandomizedTest {

    private final WordReader reader = new WordReader();
    private final WordsInOrder comparison = new WordsInOrder();

    /** The definition (Wagner &amp; Fischer, JACM 1974). */
    private static int byTable(Words leftWords, Words rightWords) {
        int[] left = leftWords.written();
        int[] right = rightWords.written();
        int[] above = new int[right.length + 1];
        for (int word : left) {
            int[] row = new int[right.length + 1];
            for (int i = 0; i < right.length; i++) {
                row[i + 1] = word == right[i] ? above[i] + 1 : Math.max(row[i], above[i + 1]);
            }
            above = row;
        }
        return above[right.length];
    }

    private String randomText(int words, int kinds) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < words; i++) {
            text.append('w').append(randomInt(kinds)).append(' ');
        }
        return text.toString();
    }

    private static Words ascii(int[] words) {
        return new Words(words, words, false);
    }

    private Words edited(Words words) {
        int[] other = words.written().clone();
        for (int i = other.length / 10; i > 0; i--) {
            other[randomInt(other.length - 1)] = 0;
        }
        int start = randomInt(other.length);
        return ascii(Arrays.copyOfRange(other, start / 8, other.length));
    }

    @Test
    public void testWordsAreThoseOfTheNormalisedText() {
        int[] words = reader.read("To be, or not to be: 近似").written();
        assertEquals(8, words.length);
        assertEquals(words[0], words[4]);
        assertEquals(words[1], words[5]);
    }

    @Test
    public void testSimilarity() {
        Words left = reader.read("to be or not to be");
        Words right = reader.read("not to be or to be");
        assertEquals(5 / 6.0, comparison.similarity(left, right, 0.8), 0);
        assertEquals(0, comparison.similarity(left, right, 0.9), 0);
        assertEquals(1, comparison.similarity(left, left, 1), 0);
        assertEquals(0, comparison.similarity(ascii(new int[0]), ascii(new int[0]), 0), 0);
    }

    @Test
    public void testLengthsAreThoseOfTheDefinition() {
        for (int round = 0; round < 300; round++) {
            int kinds = randomFrom(new int[] {1, 2, 7, 60});
            Words left = reader.read(randomText(randomIntBetween(0, 200), kinds));
            Words right =
                    randomBoolean()
                            ? edited(left)
                            : reader.read(randomText(randomIntBetween(0, 200), kinds));
            int expected = byTable(left, right);
            assertEquals(expected, comparison.common(left, right, 0));
            int min = randomIntBetween(1, 200);
            assertEquals(expected < min ? 0 : expected, comparison.common(left, right, min));
            assertEquals(expected, comparison.common(left, right, expected));
        }
    }

    @Test
    public void testLengthsOfLongTextsAreThoseOfTheDefinition() {
        Words left = reader.read(randomText(3_000, 100_000));
        Words right = edited(left);
        int expected = byTable(left, right);
        assertEquals(expected, comparison.common(left, right, 0));
        assertEquals(expected, comparison.common(left, right, expected));
        assertEquals(0, comparison.common(left, right, expected + 1));
    }

    @Test
    public void testTooLongTextsAreNotCompared() {
        Words words = ascii(new int[1 << 17]);
        Words others = ascii(new int[1 << 17]);
        assertEquals(WordsInOrder.TOO_LONG, comparison.common(words, others, 1));
    }
}
