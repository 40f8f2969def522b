package org.nearfold.core.compare;

import org.nearfold.core.text.Accents;
import org.nearfold.core.text.CodePoints;
import org.nearfold.core.text.Form;
import org.nearfold.core.text.NormalText;
import org.nearfold.core.text.Normaliser;
import org.nearfold.core.text.Unicode13;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Reads the words of texts as numbers: 32 bits of a hash whose secret is another one in each
 * process, so that nobody can write words that collide.
 *
 * <p>Two texts of 300 different words each have words of the same number in 1 of 50,000 pairs; that
 * changes a similarity only where these stand in order, by one word. Words are those of {@code
 * default_v2}, under every recipe. Not safe for use by several threads.
 */
public final class WordReader {

    private static final long SECRET = ThreadLocalRandom.current().nextLong() | 1;
    private static final long MULTIPLIER = 0xD1342543DE82EF95L;
    private static final int CODE_BITS = 21;

    /** The code points that a long has room for. */
    private static final int CODES = 3;

    private final Normaliser normaliser = new Normaliser();
    private final NormalText normal = new NormalText();

    /** Returns the words of a text. */
    public Words read(String text) {
        normaliser.normalise(text, Form.DEFAULT_V2, normal);
        int[] written = numbers(false);
        boolean isPlain = true;
        boolean hasAccents = false;
        if (normal.utf8Length() > normal.chars()) {
            CodePoints codes = normal.codes();
            for (int i = 0; i < codes.size(); i++) {
                int code = codes.get(i);
                if (code >= 0x80) {
                    hasAccents |= Accents.isAccented(code);
                    isPlain &= Accents.without(code) == code;
                }
            }
        }
        return new Words(written, isPlain && !hasAccents ? written : numbers(true), hasAccents);
    }

    /** Returns the numbers of the words, of those without accents if they are to be plain. */
    private int[] numbers(boolean isPlain) {
        CodePoints codes = normal.codes();
        int[] numbers = new int[normal.words()];
        int size = 0;
        int start = 0;
        long hash = 0;
        long packed = 0;
        int free = CODES;
        for (int i = 0; i <= codes.size(); i++) {
            int code = i < codes.size() ? codes.get(i) : ' ';
            boolean isUnspaced = code >= 0x80 && Unicode13.isUnspaced(code);
            if (isUnspaced || code == ' ') {
                if (i > start) {
                    numbers[size++] = number(hash ^ packed);
                }
                if (isUnspaced) {
                    numbers[size++] = number(code);
                }
                start = i + 1;
                hash = 0;
                packed = 0;
                free = CODES;
            } else if (code < 0x80 || !isPlain || !Accents.isAlone(code)) {
                int letter = code < 0x80 || !isPlain ? code : Accents.without(code);
                packed = packed << CODE_BITS | letter;
                if (--free == 0) {
                    hash = mix(hash ^ packed);
                    packed = 0;
                    free = CODES;
                }
            }
        }
        return numbers;
    }

    /** Returns the number of a word of whose code points all but the last ones are mixed in. */
    private static int number(long hash) {
        return (int) (mix(hash) * MULTIPLIER >>> 32);
    }

    private static long mix(long value) {
        long mixed = (value + SECRET) * SECRET;
        return mixed ^ mixed >>> 29;
    }
}
