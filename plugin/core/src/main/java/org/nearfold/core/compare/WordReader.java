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
    private final CodePoints letters = new CodePoints();

    /** Returns the words of a text. */
    public Words read(String text) {
        normaliser.normalise(text, Form.DEFAULT_V2, normal);
        int[] written = numbers(false);
        boolean isPlain = true;
        boolean hasAccents = false;
        if (normal.utf8Length() > normal.chars()) {
            CodePoints codes = normal.codes();
            for (int i = 0; i < codes.size(); i++) {
                hasAccents |= Accents.isAccented(codes.get(i));
                isPlain &= Accents.without(codes.get(i)) == codes.get(i);
            }
        }
        return new Words(written, isPlain && !hasAccents ? written : numbers(true), hasAccents);
    }

    private int[] numbers(boolean isPlain) {
        CodePoints codes = normal.codes();
        int[] numbers = new int[normal.words()];
        int size = 0;
        int start = 0;
        for (int i = 0; i < codes.size(); i++) {
            int code = codes.get(i);
            boolean isUnspaced = code >= 0x80 && Unicode13.isUnspaced(code);
            if (isUnspaced || code == ' ') {
                if (i > start) {
                    numbers[size++] = number(start, i, isPlain);
                }
                if (isUnspaced) {
                    numbers[size++] = number(i, i + 1, isPlain);
                }
                start = i + 1;
            }
        }
        if (codes.size() > start) {
            numbers[size] = number(start, codes.size(), isPlain);
        }
        return numbers;
    }

    private int number(int start, int end, boolean isPlain) {
        CodePoints codes = normal.codes();
        if (!isPlain) {
            return hash(codes, start, end);
        }
        letters.clear();
        for (int i = start; i < end; i++) {
            if (!Accents.isAlone(codes.get(i))) {
                letters.add(Accents.without(codes.get(i)));
            }
        }
        return hash(letters, 0, letters.size());
    }

    /** Returns the hash of a word, of whose code points each time as many as fit are mixed in. */
    private static int hash(CodePoints codes, int start, int end) {
        long hash = 0;
        long packed = 0;
        int free = CODES;
        for (int i = start; i < end; i++) {
            packed = packed << CODE_BITS | codes.get(i);
            if (--free == 0) {
                hash = mix(hash ^ packed);
                packed = 0;
                free = CODES;
            }
        }
        return (int) (mix(hash ^ packed) * MULTIPLIER >>> 32);
    }

    private static long mix(long value) {
        long mixed = (value + SECRET) * SECRET;
        return mixed ^ mixed >>> 29;
    }
}
