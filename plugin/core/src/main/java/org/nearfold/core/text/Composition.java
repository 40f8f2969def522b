package org.nearfold.core.text;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;

/**
 * NFKC of code points as of Unicode 13.0 (UAX #15), in buffers of its caller.
 *
 * <p>Immutable and safe for use by several threads.
 */
final class Composition {

    private static final int S_BASE = 0xAC00;
    private static final int L_BASE = 0x1100;
    private static final int V_BASE = 0x1161;
    private static final int T_BASE = 0x11A7;
    private static final int L_COUNT = 19;
    private static final int V_COUNT = 21;
    private static final int T_COUNT = 28;
    private static final int S_COUNT = L_COUNT * V_COUNT * T_COUNT;

    private static final int CLASS_SHIFT = 24;
    private static final int OFFSET = (1 << CLASS_SHIFT) - 1;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    /**
     * The combining class of a code point, and the offset of its decomposition; 0 if it has none.
     */
    private final CodePointTable entries;

    /** Decompositions, each after its length. */
    private final int[] decompositions;

    /**
     * Pairs {@code first << 21 | second} by open addressing, and what each composes to; 0 marks a
     * free place.
     */
    private final long[] pairs;

    private final int[] composed;
    private final int shift;

    /** The second code points of all pairs. */
    private final BitSet seconds = new BitSet();

    /** Reads the tables {@code COMBINING}, {@code DECOMPOSE} and {@code COMPOSE}. */
    Composition(Map<String, String> tables) {
        int[] values = new int[CodePointTable.END];
        for (String entry : tables.get("COMBINING").split(" ")) {
            readCombiningClass(values, entry);
        }
        decompositions = readDecompositions(values, tables.get("DECOMPOSE").split(" "));
        entries = new CodePointTable(values);
        String[] every = tables.get("COMPOSE").split(" ");
        int bits = 64 - Long.numberOfLeadingZeros(2L * every.length);
        pairs = new long[1 << bits];
        composed = new int[1 << bits];
        shift = 64 - bits;
        for (String pair : every) {
            readPair(pair);
        }
    }

    /**
     * Returns whether NFKC may change a code point, compose it with what stands before it, or
     * reorder it.
     */
    boolean isUnstable(int code) {
        int entry = entries.get(code);
        boolean isVowelOrTail =
                code >= V_BASE && code < V_BASE + V_COUNT
                        || code > T_BASE && code < T_BASE + T_COUNT;
        if (entry >>> CLASS_SHIFT != 0 || isVowelOrTail || seconds.get(code)) {
            return true;
        }
        if ((entry & OFFSET) == 0) {
            return false;
        }
        CodePoints one = new CodePoints();
        one.add(code);
        CodePoints work = new CodePoints();
        compose(one, work);
        return work.size() != 1 || work.get(0) != code;
    }

    /** Replaces what {@code out} holds by the NFKC of {@code piece}. */
    void compose(CodePoints piece, CodePoints out) {
        out.clear();
        for (int i = 0; i < piece.size(); i++) {
            decompose(piece.get(i), out);
        }
        order(out);
        recompose(out);
    }

    private int combiningClass(int code) {
        return entries.get(code) >>> CLASS_SHIFT;
    }

    private void decompose(int code, CodePoints out) {
        int syllable = code - S_BASE;
        if (syllable >= 0 && syllable < S_COUNT) {
            out.add(L_BASE + syllable / (V_COUNT * T_COUNT));
            out.add(V_BASE + syllable % (V_COUNT * T_COUNT) / T_COUNT);
            if (syllable % T_COUNT > 0) {
                out.add(T_BASE + syllable % T_COUNT);
            }
            return;
        }
        int offset = entries.get(code) & OFFSET;
        if (offset == 0) {
            out.add(code);
            return;
        }
        int end = offset + decompositions[offset];
        for (int i = offset + 1; i <= end; i++) {
            out.add(decompositions[i]);
        }
    }

    /**
     * Orders every run of code points with a combining class by it, stably; runs are short by the
     * caller's barrier.
     */
    private void order(CodePoints codes) {
        for (int i = 1; i < codes.size(); i++) {
            int code = codes.get(i);
            int own = combiningClass(code);
            if (own == 0) {
                continue;
            }
            int j = i;
            for (; j > 0 && combiningClass(codes.get(j - 1)) > own; j--) {
                codes.set(j, codes.get(j - 1));
            }
            codes.set(j, code);
        }
    }

    private void recompose(CodePoints codes) {
        int starter = -1;
        int size = 0;
        int before = 0;
        for (int i = 0; i < codes.size(); i++) {
            int code = codes.get(i);
            int own = combiningClass(code);
            boolean isBlocked = starter >= 0 && starter < size - 1 && before >= own;
            int joined = starter < 0 || isBlocked ? 0 : composeTwo(codes.get(starter), code);
            if (joined != 0) {
                codes.set(starter, joined);
                continue;
            }
            if (own == 0) {
                starter = size;
            }
            before = own;
            codes.set(size++, code);
        }
        codes.resize(size);
    }

    private int composeTwo(int first, int second) {
        int lead = first - L_BASE;
        int vowel = second - V_BASE;
        if (lead >= 0 && lead < L_COUNT && vowel >= 0 && vowel < V_COUNT) {
            return S_BASE + (lead * V_COUNT + vowel) * T_COUNT;
        }
        int syllable = first - S_BASE;
        int tail = second - T_BASE;
        if (syllable >= 0
                && syllable < S_COUNT
                && syllable % T_COUNT == 0
                && tail > 0
                && tail < T_COUNT) {
            return first + tail;
        }
        return composed[place((long) first << 21 | second)];
    }

    /** Returns the place of a pair, or the free place where it would stand. */
    private int place(long pair) {
        int place = (int) (pair * MULTIPLIER >>> shift);
        while (pairs[place] != 0 && pairs[place] != pair) {
            place = place + 1 & pairs.length - 1;
        }
        return place;
    }

    private void readPair(String text) {
        int dot = text.indexOf('.');
        int colon = text.indexOf(':');
        long first = Integer.parseInt(text.substring(0, dot), 16);
        int second = Integer.parseInt(text.substring(dot + 1, colon), 16);
        int place = place(first << 21 | second);
        seconds.set(second);
        pairs[place] = first << 21 | second;
        composed[place] = Integer.parseInt(text.substring(colon + 1), 16);
    }

    private static void readCombiningClass(int[] values, String entry) {
        int dash = entry.indexOf('-');
        int colon = entry.indexOf(':');
        int first = Integer.parseInt(entry.substring(0, dash), 16);
        int last = Integer.parseInt(entry.substring(dash + 1, colon), 16);
        int number = Integer.parseInt(entry.substring(colon + 1));
        for (int code = first; code <= last; code++) {
            values[code] |= number << CLASS_SHIFT;
        }
    }

    private static int[] readDecompositions(int[] values, String[] every) {
        int[] pool = new int[8 * every.length];
        int size = 1; // 0 marks a code point without one
        for (String entry : every) {
            int colon = entry.indexOf(':');
            String[] codes = entry.substring(colon + 1).split("\\.");
            if (size + codes.length >= pool.length) {
                pool = Arrays.copyOf(pool, 2 * pool.length);
            }
            values[Integer.parseInt(entry.substring(0, colon), 16)] |= size;
            pool[size++] = codes.length;
            for (String code : codes) {
                pool[size++] = Integer.parseInt(code, 16);
            }
        }
        return Arrays.copyOf(pool, size);
    }
}
