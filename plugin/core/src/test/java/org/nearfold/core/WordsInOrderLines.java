package org.nearfold.core;

import org.nearfold.core.compare.WordReader;
import org.nearfold.core.compare.Words;
import org.nearfold.core.compare.WordsInOrder;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Compares the pairs of texts of standard input, for tests that compare with the Python definition.
 *
 * <p>A line of input has two texts with a tab between them, each as UTF-16 units in hexadecimal
 * digits. A line of output has the words in order, those of either text, and the similarity.
 */
public final class WordsInOrderLines {

    private WordsInOrderLines() {}

    public static void main(String[] arguments) throws IOException {
        WordReader reader = new WordReader();
        WordsInOrder comparison = new WordsInOrder();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] texts = line.split("\t", -1);
            Words left = reader.read(FingerprintLines.text(texts[0]));
            Words right = reader.read(FingerprintLines.text(texts[1]));
            int common = comparison.common(left, right, 0);
            double similarity = comparison.similarity(left, right, 0);
            System.out.println(
                    common + " " + left.size() + " " + right.size() + " " + similarity);
        }
    }
}
