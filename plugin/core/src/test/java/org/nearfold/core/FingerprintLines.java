package org.nearfold.core;

import org.nearfold.core.sketch.Fingerprinter;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * Fingerprints the texts of standard input, for tests that compare with the Python definition.
 *
 * <p>A line of input has, with tabs between them: the recipe, the secret of its key or nothing, and
 * the UTF-16 units of a text as hexadecimal digits, four each. A line of output has: status, slots,
 * SimHash, band keys, block keys, digest, words and characters. It is written before the next line
 * is awaited.
 */
public final class FingerprintLines {

    private FingerprintLines() {}

    public static void main(String[] arguments) throws IOException {
        Map<String, Fingerprinter> fingerprinters = new HashMap<>();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", 3);
            Fingerprint made =
                    fingerprinters
                            .computeIfAbsent(
                                    fields[0],
                                    recipe ->
                                            new Fingerprinter(
                                                    Recipe.named(recipe, name -> fields[1])))
                            .fingerprint(text(fields[2]));
            out.println(
                    String.join(
                            "\t",
                            made.status().label(),
                            made.minhash() == null ? "" : HexFormat.of().formatHex(made.minhash()),
                            made.simhash() == null
                                    ? ""
                                    : HexFormat.of().toHexDigits(made.simhash()),
                            String.join(" ", made.bands().strings()),
                            String.join(" ", made.blocks().strings()),
                            made.hexDigest(),
                            Integer.toString(made.words()),
                            Integer.toString(made.chars())));
            out.flush();
        }
    }

    static String text(String digits) {
        char[] units = new char[digits.length() / 4];
        for (int i = 0; i < units.length; i++) {
            units[i] = (char) HexFormat.fromHexDigits(digits, 4 * i, 4 * i + 4);
        }
        return new String(units);
    }
}
