package org.nearfold.core;

import org.nearfold.core.sketch.Fingerprinter;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Fingerprints the texts of standard input, for tests that compare with the Python definition.
 *
 * <p>The first argument is the recipe, the second the secret of its key. A line of input has the
 * UTF-16 units of a text as hexadecimal digits, four each. A line of output has, with tabs between
 * them: status, slots, SimHash, band keys, block keys, digest, words and characters.
 */
public final class FingerprintLines {

    private FingerprintLines() {}

    public static void main(String[] arguments) throws IOException {
        String secret = arguments.length > 1 ? arguments[1] : null;
        Fingerprinter fingerprinter = new Fingerprinter(Recipe.named(arguments[0], name -> secret));
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Fingerprint made = fingerprinter.fingerprint(text(line));
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
        }
        out.flush();
    }

    static String text(String digits) {
        char[] units = new char[digits.length() / 4];
        for (int i = 0; i < units.length; i++) {
            units[i] = (char) HexFormat.fromHexDigits(digits, 4 * i, 4 * i + 4);
        }
        return new String(units);
    }
}
