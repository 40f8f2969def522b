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

    private final StringBuilder found = new StringBuilder();

    /** What is a symbol if a digit comes next; {@link #NOTHING} if there is none. */
    private int pending;

    /** A word stands on this line. */
    private boolean inLine;

    void clear() {
        found.setLength(0);
        pending = NOTHING;
        inLine = false;
    }

    /**
     * Takes the next code point of a composed text.
     *
     * @param separates whether it is of no word
     * @param isInside whether it comes directly after one of a word
     * @param words those that begin before it
     */
    void take(int code, boolean separates, boolean isInside, int words) {
        if (pending != NOTHING) {
            boolean isDigit = code >= '0' && code <= '9';
            if (isDigit || pending == MINUS && isCurrency(code)) {
                add(pending, words);
            }
            pending = NOTHING;
        }
        if (separates == false) {
            inLine = true;
        } else if (code == '\n' || code == '\r') {
            inLine = false;
        } else if (isCurrency(code)) {
            add(code, words);
        } else if (code == MINUS || code == '\u2013' || code == '\u2212') {
            pending = isInside ? NOTHING : MINUS;
        } else if (code != ' ' && OTHERS.indexOf(code) >= 0) {
            if (inLine) {
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
