package org.nearfold.core.compare;

/**
 * The words of a text as a {@link WordReader} numbers them, equal ones alike in one process.
 *
 * @param written the words, in order
 * @param plain the same words without accents and strokes; the same array where there are none
 * @param hasAccents whether a letter of the text has an accent
 */
public record Words(int[] written, int[] plain, boolean hasAccents) {

    /** Returns how many words there are. */
    public int size() {
        return written.length;
    }
}
