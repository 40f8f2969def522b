package org.nearfold.core.sketch;

import java.util.ArrayList;
import java.util.List;

/**
 * Tables of bit blocks: masks whose keys find all sketches of 64 bits within a Hamming distance
 * (Manku, Jain &amp; Das Sarma, WWW 2007).
 */
final class Blocks {

    private static final int BITS = 64;

    private Blocks() {}

    /**
     * Returns the masks of {@code count} equal parts, the most significant first; bits left over
     * are not used.
     */
    static long[] equal(int count) {
        long[] masks = new long[count];
        for (int block = 0; block < count; block++) {
            int part = BITS / count;
            masks[block] = (part == BITS ? -1L : (1L << part) - 1) << BITS - part * (block + 1);
        }
        return masks;
    }

    /**
     * Returns the masks of a design: at each level the bits that are left are cut into parts, of
     * which some are chosen in every possible way.
     *
     * @param levels parts and chosen parts of each level, such as {@code 4/1,4/1}
     */
    static long[] design(String levels) {
        List<Long> masks = new ArrayList<>();
        List<Integer> all = new ArrayList<>();
        for (int bit = BITS - 1; bit >= 0; bit--) {
            all.add(bit);
        }
        String[] every = levels.split(",");
        choose(all, every, 0, 0L, masks);
        return masks.stream().mapToLong(Long::longValue).toArray();
    }

    private static void choose(
            List<Integer> bits, String[] levels, int level, long chosen, List<Long> masks) {
        if (level == levels.length) {
            masks.add(chosen);
            return;
        }
        String[] numbers = levels[level].split("/");
        List<List<Integer>> parts = cut(bits, Integer.parseInt(numbers[0]));
        for (int[] choice : combinations(parts.size(), Integer.parseInt(numbers[1]))) {
            List<Integer> rest = new ArrayList<>();
            long mask = chosen;
            int next = 0;
            for (int part = 0; part < parts.size(); part++) {
                if (next < choice.length && choice[next] == part) {
                    next++;
                    for (int bit : parts.get(part)) {
                        mask |= 1L << bit;
                    }
                } else {
                    rest.addAll(parts.get(part));
                }
            }
            choose(rest, levels, level + 1, mask, masks);
        }
    }

    /** Cuts into consecutive parts whose lengths differ by at most one, the longer ones first. */
    private static List<List<Integer>> cut(List<Integer> bits, int count) {
        List<List<Integer>> parts = new ArrayList<>();
        int start = 0;
        for (int part = 0; part < count; part++) {
            int end = start + bits.size() / count + (part < bits.size() % count ? 1 : 0);
            parts.add(bits.subList(start, end));
            start = end;
        }
        return parts;
    }

    /** Returns every choice of {@code chosen} of {@code count} numbers, in lexicographic order. */
    private static List<int[]> combinations(int count, int chosen) {
        List<int[]> all = new ArrayList<>();
        int[] choice = new int[chosen];
        for (int i = 0; i < chosen; i++) {
            choice[i] = i;
        }
        while (true) {
            all.add(choice.clone());
            int i = chosen - 1;
            while (i >= 0 && choice[i] == count - chosen + i) {
                i--;
            }
            if (i < 0) {
                return all;
            }
            choice[i]++;
            for (int j = i + 1; j < chosen; j++) {
                choice[j] = choice[j - 1] + 1;
            }
        }
    }
}
