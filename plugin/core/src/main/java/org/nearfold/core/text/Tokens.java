package org.nearfold.core.text;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The tokens of the {@code simhash-doc} scheme: runs of word characters with at least one letter,
 * without identifiers and bare numbers. Immutable.
 */
public final class Tokens {

    private static final int NO_BITS = 0;

    private final int wordBits;
    private final int removedBits;
    private final boolean pairsLetters;
    private final boolean isInternational;
    private final Form form;

    private Tokens(int wordBits, int removedBits, boolean pairsLetters, Form form) {
        this(wordBits, removedBits, pairsLetters, false, form);
    }

    private Tokens(
            int wordBits,
            int removedBits,
            boolean pairsLetters,
            boolean isInternational,
            Form form) {
        this.wordBits = wordBits;
        this.removedBits = removedBits;
        this.pairsLetters = pairsLetters;
        this.isInternational = isInternational;
        this.form = form;
    }

    /**
     * Returns the rules of a version, {@code v1} to {@code v6}.
     *
     * @throws IllegalArgumentException for another version
     */
    public static Tokens version(String version) {
        int marked = Unicode13.WORD | Unicode13.SPACING_MARK;
        return switch (version) {
            case "v1" -> new Tokens(Unicode13.WORD, NO_BITS, false, Form.FOLDED);
            case "v2" -> new Tokens(marked, NO_BITS, false, Form.FOLDED);
            case "v3" -> new Tokens(marked, Unicode13.DIGIT, false, Form.FOLDED);
            case "v4" -> new Tokens(marked, NO_BITS, true, Form.FOLDED);
            case "v5" -> new Tokens(Unicode13.WORD, NO_BITS, false, Form.VISIBLE);
            case "v6" -> new Tokens(marked, NO_BITS, false, true, Form.FOLDED);
            default ->
                    throw new IllegalArgumentException(
                            "token version " + version + " is none of v1 to v6");
        };
    }

    /** Returns the form of the text that {@link #of} takes. */
    public Form form() {
        return form;
    }

    /** Returns the tokens of a text in that form, in order, with repeats. */
    public List<String> of(NormalText text) {
        String whole = new String(text.utf8(), 0, text.utf8Length(), StandardCharsets.UTF_8);
        String plain = Identifiers.remove(whole, isInternational);
        List<String> tokens = new ArrayList<>();
        int start = 0;
        while (start < plain.length()) {
            int code = plain.codePointAt(start);
            if (isWord(code) == false) {
                start += Character.charCount(code);
                continue;
            }
            boolean isUnspaced = Unicode13.isUnspaced(code);
            int end = endOfRun(plain, start, isUnspaced);
            if (isUnspaced) {
                segment(plain.substring(start, end), tokens);
            } else {
                add(plain.substring(start, end), tokens);
            }
            start = end;
        }
        return tokens;
    }

    private boolean isWord(int code) {
        return (Unicode13.categories(code) & wordBits) != 0;
    }

    private int endOfRun(String text, int start, boolean isUnspaced) {
        int end = start;
        while (end < text.length()) {
            int code = text.codePointAt(end);
            if (isWord(code) == false || Unicode13.isUnspaced(code) != isUnspaced) {
                break;
            }
            end += Character.charCount(code);
        }
        return end;
    }

    /** Adds the words of a run of a script without spaces. */
    private void segment(String run, List<String> tokens) {
        List<String> letters = new ArrayList<>();
        boolean afterKatakana = false;
        int start = 0;
        while (start < run.length()) {
            int code = run.codePointAt(start);
            int end = endOfMarks(run, start + Character.charCount(code));
            boolean isKatakana = pairsLetters == false && has(code, Unicode13.KATAKANA);
            String letter = run.substring(start, end);
            if (isKatakana && afterKatakana) {
                letters.set(letters.size() - 1, letters.get(letters.size() - 1) + letter);
            } else {
                letters.add(letter);
            }
            afterKatakana = isKatakana;
            start = end;
        }
        if (pairsLetters == false || letters.size() < 2) {
            letters.forEach(letter -> add(letter, tokens));
            return;
        }
        for (int i = 1; i < letters.size(); i++) {
            add(letters.get(i - 1) + letters.get(i), tokens);
        }
    }

    private static int endOfMarks(String run, int start) {
        int end = start;
        while (end < run.length() && has(run.codePointAt(end), Unicode13.MARK)) {
            end += Character.charCount(run.codePointAt(end));
        }
        return end;
    }

    /** Adds a word without the characters that this version removes, if it has a letter. */
    private void add(String word, List<String> tokens) {
        String kept = removedBits == NO_BITS ? word : without(word);
        if (kept.codePoints().anyMatch(code -> has(code, Unicode13.LETTER))) {
            tokens.add(kept);
        }
    }

    private String without(String word) {
        StringBuilder kept = new StringBuilder(word.length());
        word.codePoints()
                .filter(code -> has(code, removedBits) == false)
                .forEach(kept::appendCodePoint);
        return kept.toString();
    }

    private static boolean has(int code, int bits) {
        return (Unicode13.categories(code) & bits) != 0;
    }
}
