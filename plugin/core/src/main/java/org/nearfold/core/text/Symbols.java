package org.nearfold.core.text;

/**
 * {@code symbols_v1}: the symbols of value of a text, each with the number of words before it.
 *
 * <p>One is a currency; another one after a word of its line, or directly before a digit; a minus
 * directly before a digit or a currency, but not directly after a word. Not safe for use by several
 * threads.
 */
final class Symbols {

    private static final String OTHERS =
            "#%+<=>\u00b0\u00b1\u00d7\u00f7\u2030\u2248\u2260\u2264\u2265";
    private static final int MINUS = '-';
    private static final int NOTHING = -1;

    /** Of each character of ASCII whether it may be a symbol or ends a line. */
    private static final boolean[] MARKS = new boolean[0x80];

    static {
        for (char mark : "#%+<=>$-\n\r".toCharArray()) {
            MARKS[mark] = true;
        }
    }

    private final StringBuilder found = new StringBuilder();

    /** What is a symbol if a digit comes next; {@link #NOTHING} if there is none. */
    private int pending;

    /** The words that begin before this line. */
    private int wordsBefore;

    void clear() {
        found.setLength(0);
        pending = NOTHING;
        wordsBefore = 0;
    }

    /** Returns whether a separator of ASCII has to be given to {@link #take}. */
    static boolean isMark(char code) {
        return MARKS[code & 0x7F];
    }

    /** Returns whether what comes next has to be given to {@link #decide}. */
    boolean isPending() {
        return pending != NOTHING;
    }

    /** Takes the code point after a pending one, of a word or not. */
    void decide(int code, int words) {
        boolean isDigit = code >= '0' && code <= '9';
        if (isDigit || pending == MINUS && isCurrency(code)) {
            add(pending, words);
        }
        pending = NOTHING;
    }

    /**
     * Takes a code point of a composed text that separates words, while none is pending.
     *
     * @param isInside whether it comes directly after one of a word
     * @param words those that begin before it
     */
    void take(int code, boolean isInside, int words) {
        if (code == '\n' || code == '\r') {
            wordsBefore = words;
        } else if (isCurrency(code)) {
            add(code, words);
        } else if (code == MINUS || code == '\u2013' || code == '\u2212') {
            pending = isInside ? NOTHING : MINUS;
        } else if (code != ' ' && OTHERS.indexOf(code) >= 0) {
            if (words > wordsBefore) {
                add(code, words);
            } else {
                pending = code;
            }
        }
    }

    @Override
    public String toString() {
        return found.toString();
    }

    private void add(int code, int words) {
        found.appendCodePoint(code).append(words);
    }

    private static boolean isCurrency(int code) {
        return code == '$'
                || code >= '\u00a2' && code <= '\u00a5'
                || code >= '\u20a0' && code <= '\u20bf';
    }
}
