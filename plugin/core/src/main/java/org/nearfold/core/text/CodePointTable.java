package org.nearfold.core.text;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * An immutable map from every code point to an {@code int}, in two levels: equal pages are kept
 * once.
 */
final class CodePointTable {

    /** One more than the last code point. */
    static final int END = 0x110000;

    private static final int PAGE_BITS = 7;
    private static final int PAGE = 1 << PAGE_BITS;

    /** The offset in {@link #cells} of each page of code points. */
    private final int[] pages = new int[END >> PAGE_BITS];

    private final int[] cells;

    /** Compresses {@code values}, one of each code point. */
    CodePointTable(int[] values) {
        int[] distinct = new int[values.length];
        int size = 0;
        Map<Integer, Integer> offsets = new HashMap<>();
        for (int page = 0; page < pages.length; page++) {
            int start = page << PAGE_BITS;
            int hash = Arrays.hashCode(Arrays.copyOfRange(values, start, start + PAGE));
            Integer known = offsets.get(hash);
            if (known != null
                    && Arrays.equals(distinct, known, known + PAGE, values, start, start + PAGE)) {
                pages[page] = known;
                continue;
            }
            System.arraycopy(values, start, distinct, size, PAGE);
            offsets.putIfAbsent(hash, size);
            pages[page] = size;
            size += PAGE;
        }
        cells = Arrays.copyOf(distinct, size);
    }

    /** Returns the value of a code point, 0 to 0x10FFFF. */
    int get(int code) {
        return cells[pages[code >> PAGE_BITS] + (code & (PAGE - 1))];
    }
}
