package org.nearfold.core.text;

import static org.nearfold.core.text.Unicode13.BLANK;
import static org.nearfold.core.text.Unicode13.CODE;
import static org.nearfold.core.text.Unicode13.HYPHEN;
import static org.nearfold.core.text.Unicode13.IGNORABLE;
import static org.nearfold.core.text.Unicode13.NONSTARTER;
import static org.nearfold.core.text.Unicode13.SEPARATOR;
import static org.nearfold.core.text.Unicode13.UNASSIGNED;
import static org.nearfold.core.text.Unicode13.UNSPACED;
import static org.nearfold.core.text.Unicode13.UNSTABLE;
import static org.nearfold.core.text.Unicode13.WORDLESS;

/**
 * Normalises texts by a {@link Form}, in one pass, in the same memory for one text after the other.
 *
 * <p>The definition is that of the Python package ({@code default_v1} and {@code default_v2} of its
 * normalisation). Composition by NFKC is left out wherever a character is stable and an ASCII
 * character follows, which is nearly always. Not safe for use by several threads.
 */
public final class Normaliser {

    private static final int MAX_NONSTARTERS = 30;
    private static final int REPLACEMENT = 0xFFFD;
    private static final int SHARP_S = 0xDF;
    private static final int NOTHING = -1;
    private static final char[] NO_CHARS = {};

    private static final byte SPACE = ' ';

    /** Set in ASCII letters, but not in digits and the space. */
    private static final int LETTER_BIT = 0x40;

    /** Characters of ASCII from which on a run of them is read as such. */
    private static final int LONG_RUN = 8;

    /** The lower case of ASCII letters and digits, a space for everything else. */
    private static final byte[] PLAIN = plain();

    /** The lower case of visible ASCII characters, 0 for everything else. */
    private static final byte[] VISIBLE = visible();

    private final Composition composition = Unicode13.composition();
    private final CodePoints piece = new CodePoints();
    private final CodePoints composed = new CodePoints();

    private char[] chars = NO_CHARS;
    private int length;
    private Form form;
    private NormalText out;

    /** Words are separated by one blank. */
    private boolean separates;

    /** Symbols of value are noted. */
    private boolean keepsSymbols;

    /**
     * The last stable character, which what comes next may still change; {@link #NOTHING} if there
     * is none.
     */
    private int held;

    private int marks;

    /** A separator stands before the next character. */
    private boolean waiting;

    /** The last character is of a script without spaces. */
    private boolean unspaced;

    /** The original text is within a word. */
    private boolean inside;

    /**
     * Replaces what {@code out} holds by the normalised {@code text}.
     *
     * @param text any text, lone surrogates included
     */
    public void normalise(String text, Form form, NormalText out) {
        begin(text, form, out);
        if (form == Form.VERBATIM || form == Form.VISIBLE) {
            copy(form == Form.VISIBLE ? IGNORABLE : 0);
            return;
        }
        boolean joinsLines = form != Form.FOLDED;
        int i = 0;
        while (i < length) {
            int c = chars[i];
            int next = i + 1;
            if (c < 0x80) {
                int end = joinsLines ? settledRun(i) : i;
                if (end - i >= LONG_RUN) {
                    flush();
                    marks = 0;
                    if (separates) {
                        separateRun(i, end);
                    } else {
                        copyRun(i, end);
                    }
                    i = end;
                    continue;
                }
                if (c == '-' && joinsLines) {
                    int after = afterHyphen(next);
                    if (after >= 0) {
                        countWord(c);
                        i = after;
                        continue;
                    }
                }
            } else if (Character.isSurrogate((char) c)) {
                c = codePoint(i);
                next += c >= 0x10000 ? 1 : 0;
            }
            i = read(c, next, joinsLines);
        }
        flush();
    }

    /** Frees the memory when there is room for more than {@code most} characters. */
    public void release(int most) {
        piece.release(most);
        composed.release(most);
        if (chars.length > most) {
            chars = NO_CHARS;
        }
    }

    private void begin(String text, Form newForm, NormalText newOut) {
        form = newForm;
        out = newOut;
        keepsSymbols = form == Form.DEFAULT_V2_SYMBOLS;
        separates = keepsSymbols || form == Form.DEFAULT_V2;
        length = text.length();
        if (chars.length < length) {
            chars = new char[length + (length >> 2)];
        }
        text.getChars(0, length, chars, 0);
        out.clear();
        out.reserve(length);
        piece.clear();
        held = NOTHING;
        marks = 0;
        waiting = false;
        unspaced = false;
        inside = false;
    }

    /** Reads one code point that may not be plain; returns the offset at which to go on. */
    private int read(int code, int next, boolean joinsLines) {
        int word = Unicode13.word(code);
        if ((word & IGNORABLE) != 0) {
            return next;
        }
        if (form == Form.DEFAULT_V1) {
            countWord(code);
        }
        if ((word & HYPHEN) != 0 && code != '-' && joinsLines) {
            int after = afterHyphen(next);
            if (after >= 0) {
                return after;
            }
        }
        take(code, word);
        return next;
    }

    /** Puts one character after those before it, unless a barrier stands between. */
    private void take(int code, int word) {
        if ((word & UNSTABLE) == 0) {
            flush();
            marks = 0;
            if ((word & UNASSIGNED) == 0) {
                held = code;
            } else {
                emit(word);
            }
            return;
        }
        if (piece.size() == 0 && held != NOTHING) {
            piece.add(held);
            held = NOTHING;
        }
        piece.add(code);
        marks = (word & NONSTARTER) == 0 ? 0 : marks + 1;
        if (marks == MAX_NONSTARTERS) {
            flush();
            marks = 0;
        }
    }

    /** Composes and emits what is held. */
    private void flush() {
        if (held != NOTHING) {
            emit(Unicode13.word(held));
            held = NOTHING;
        } else if (piece.size() > 0) {
            composition.compose(piece, composed);
            piece.clear();
            for (int i = 0; i < composed.size(); i++) {
                emit(Unicode13.word(composed.get(i)));
            }
        }
    }

    /** Emits the lower case of a character, given its word. */
    private void emit(int word) {
        int code = word & CODE;
        if (form == Form.FOLDED) {
            out.append(code);
        } else if (separates) {
            separate(code, Unicode13.word(code));
        } else {
            int lower = Unicode13.word(code);
            if ((lower & BLANK) == 0) {
                out.append(code);
                out.letters |= (lower & WORDLESS) == 0;
            }
        }
    }

    /**
     * Returns the end of a run of ASCII from {@code start} on that no later character changes: it
     * goes to the end of the text, or ends one character before a hyphen or a character that is not
     * ASCII.
     */
    private int settledRun(int start) {
        int end = start;
        while (end < length && chars[end] < 0x80 && chars[end] != '-') {
            end++;
        }
        return end == length ? end : end - 1;
    }

    /**
     * Appends what {@code default_v2} keeps of a settled run of ASCII. Nothing branches on where
     * words end, for that is not predictable.
     */
    private void separateRun(int start, int end) {
        out.reserve(end - start + 1);
        int[] codes = out.codes.array();
        byte[] utf8 = out.utf8;
        int size = out.codes.size();
        int shift = out.bytes - size;
        boolean isSpaced = size > 0 && unspaced == false;
        int first = size;
        if (waiting && isSpaced) {
            codes[size] = SPACE;
            utf8[shift + size++] = SPACE;
        }
        int written = size;
        int before = isSpaced && waiting == false ? 'a' : SPACE;
        int words = 0;
        int seen = 0;
        boolean takesSymbols = keepsSymbols;
        if (takesSymbols && out.symbols.isPending()) {
            out.symbols.decide(chars[start], out.words);
        }
        for (int i = start; i < end; i++) {
            int plain = PLAIN[chars[i] & 0x7F];
            if (takesSymbols && Symbols.isMark(chars[i])) {
                takeMark(i, end, before != SPACE, out.words + words);
            }
            codes[size] = plain;
            utf8[shift + size] = (byte) plain;
            seen |= plain;
            int isWord = plain == SPACE ? 0 : 1;
            int wasSpace = before == SPACE ? 1 : 0;
            words += isWord & wasSpace;
            size += isWord | 1 - wasSpace;
            before = plain;
        }
        out.words += words;
        out.letters |= (seen & LETTER_BIT) != 0;
        if (size == written) {
            size = first;
            waiting = true;
        } else {
            waiting = before == SPACE;
            size -= waiting ? 1 : 0;
            unspaced = false;
        }
        out.codes.resize(size);
        out.bytes = shift + size;
    }

    /** Takes a possible symbol of a run of ASCII, and what follows it there. */
    private void takeMark(int i, int end, boolean isInside, int wordsBefore) {
        out.symbols.take(chars[i], isInside, wordsBefore);
        if (out.symbols.isPending() && i + 1 < end) {
            out.symbols.decide(chars[i + 1], wordsBefore);
        }
    }

    /** Appends what {@code default_v1} keeps of a settled run of ASCII. */
    private void copyRun(int start, int end) {
        out.reserve(end - start);
        int[] codes = out.codes.array();
        byte[] utf8 = out.utf8;
        int size = out.codes.size();
        int shift = out.bytes - size;
        int before = inside ? 1 : 0;
        int words = 0;
        boolean letters = false;
        for (int i = start; i < end; i++) {
            int lower = VISIBLE[chars[i] & 0x7F];
            codes[size] = lower;
            utf8[shift + size] = (byte) lower;
            int isVisible = lower == 0 ? 0 : 1;
            words += isVisible & ~before;
            letters |= lower >= 'a' && lower <= 'z';
            size += isVisible;
            before = isVisible;
        }
        out.words += words;
        out.letters |= letters;
        inside = before != 0;
        out.codes.resize(size);
        out.bytes = shift + size;
    }

    /**
     * Appends a lower-case code point by {@code default_v2}, and a blank before it where one
     * stands.
     */
    private void separate(int code, int word) {
        if (keepsSymbols && out.symbols.isPending()) {
            out.symbols.decide(code, out.words);
        }
        if ((word & SEPARATOR) != 0) {
            if (keepsSymbols) {
                boolean isInside = waiting == false && unspaced == false && out.codes.size() > 0;
                out.symbols.take(code, isInside, out.words);
            }
            waiting = true;
            return;
        }
        boolean isUnspaced = (word & UNSPACED) != 0;
        boolean isFirst = out.codes.size() == 0;
        boolean isApart = isUnspaced || unspaced;
        if (waiting && isFirst == false && isApart == false) {
            out.append(' ');
        }
        if (waiting || isFirst || isApart) {
            out.words++;
        }
        waiting = false;
        unspaced = isUnspaced;
        out.letters |= (word & WORDLESS) == 0;
        if (code == SHARP_S) {
            out.append('s');
            out.append('s');
        } else {
            out.append(code);
        }
    }

    /** Counts a word of the original text where one starts, as {@code default_v1} does. */
    private void countWord(int code) {
        if (form != Form.DEFAULT_V1) {
            return;
        }
        int word = Unicode13.word(code);
        boolean isUnspaced = (word & UNSPACED) != 0;
        boolean isVisible = (word & BLANK) == 0;
        if (isUnspaced || isVisible && inside == false) {
            out.words++;
        }
        inside = isVisible && isUnspaced == false;
    }

    /** Copies the text, without the characters that have one of {@code removed}. */
    private void copy(int removed) {
        for (int i = 0; i < length; i++) {
            int code = codePoint(i);
            i += code >= 0x10000 ? 1 : 0;
            int word = Unicode13.word(code);
            if ((word & removed) == 0) {
                countVerbatim(word);
                out.append(code);
            }
        }
    }

    /** Counts words and letters of a text that is copied; both ignore what is ignorable. */
    private void countVerbatim(int word) {
        out.letters |= (word & (WORDLESS | BLANK)) == 0;
        out.visible |= (word & BLANK) == 0;
        if ((word & IGNORABLE) != 0) {
            return;
        }
        boolean isUnspaced = (word & UNSPACED) != 0;
        boolean isVisible = (word & BLANK) == 0;
        if (isUnspaced || isVisible && inside == false) {
            out.words++;
        }
        inside = isVisible && isUnspaced == false;
    }

    private int codePoint(int i) {
        char c = chars[i];
        if (Character.isSurrogate(c) == false) {
            return c;
        }
        if (Character.isHighSurrogate(c)
                && i + 1 < length
                && Character.isLowSurrogate(chars[i + 1])) {
            return Character.toCodePoint(c, chars[i + 1]);
        }
        return REPLACEMENT;
    }

    /**
     * Returns the offset at which to go on after a hyphen that goes because it stands at the end of
     * a line; a negative number if it stays. Ignorable characters do not count.
     */
    private int afterHyphen(int start) {
        int i = skipBlanks(start);
        if (i == length || chars[i] != '\n' && chars[i] != '\r') {
            return NOTHING;
        }
        if (form == Form.DEFAULT_V1) {
            return start;
        }
        boolean isReturn = chars[i] == '\r';
        i = skipIgnorables(i + 1);
        if (isReturn && i < length && chars[i] == '\n') {
            i++;
        }
        return skipBlanks(i);
    }

    private int skipBlanks(int start) {
        int i = skipIgnorables(start);
        while (i < length && (chars[i] == ' ' || chars[i] == '\t')) {
            i = skipIgnorables(i + 1);
        }
        return i;
    }

    private int skipIgnorables(int start) {
        int i = start;
        while (i < length && chars[i] >= 0x80) {
            int code = codePoint(i);
            if ((Unicode13.word(code) & IGNORABLE) == 0) {
                break;
            }
            i += code >= 0x10000 ? 2 : 1;
        }
        return i;
    }

    private static byte[] plain() {
        byte[] plain = new byte[0x80];
        for (int c = 0; c < plain.length; c++) {
            boolean isWord = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
            plain[c] = isWord ? (byte) Character.toLowerCase(c) : SPACE;
        }
        return plain;
    }

    private static byte[] visible() {
        byte[] visible = new byte[0x80];
        for (int c = '!'; c <= '~'; c++) {
            visible[c] = (byte) Character.toLowerCase(c);
        }
        return visible;
    }
}
