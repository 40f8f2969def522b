package org.nearfold.core.text;

import java.text.Normalizer;

/**
 * Letters without their accents, and without the strokes of letters such as ł. Letters of folded
 * words only, of Latin and Greek.
 */
public final class Accents {

    private static final int FIRST_ALONE = 0x300;
    private static final int END_ALONE = 0x370;
    private static final String STROKES = "łđøħŧı";
    private static final String WITHOUT = "ldohti";
    private static final char[] LETTERS = letters();

    private Accents() {}

    /** Returns whether a code point is an accent, or a letter that has one. */
    public static boolean isAccented(int code) {
        return isAlone(code) || code < LETTERS.length && LETTERS[code] != 0;
    }

    /** Returns whether a code point is an accent alone, which is left out. */
    public static boolean isAlone(int code) {
        return FIRST_ALONE <= code && code < END_ALONE;
    }

    /** Returns a letter without accents and strokes. */
    public static int without(int code) {
        int letter = code < LETTERS.length && LETTERS[code] != 0 ? LETTERS[code] : code;
        int stroke = STROKES.indexOf(letter);
        return stroke < 0 ? letter : WITHOUT.charAt(stroke);
    }

    private static char[] letters() {
        char[] letters = new char[0x2000];
        for (char code = 0xC0; code < letters.length; code++) {
            String form = Normalizer.normalize(String.valueOf(code), Normalizer.Form.NFD);
            char base = form.charAt(0);
            boolean isKnown = base < 0x180 || 0x370 <= base && base < 0x400;
            boolean hasAccents = form.length() > 1 && form.chars().skip(1).allMatch(Accents::isAlone);
            if (hasAccents && isKnown && Character.isLetter(base) && code != 'İ') {
                letters[code] = base;
            }
        }
        return letters;
    }
}
