package org.nearfold.core.sketch;

import org.nearfold.core.text.CodePoints;
import org.nearfold.core.text.NormalText;
import org.nearfold.core.text.Unicode13;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * {@code word_pairs_v1}: the occurrences of pairs of neighbouring words of a text normalised by
 * {@code default_v2}; under a key {@code sip24_pairs_v1}.
 *
 * <p>The second occurrence of a pair is another feature than its first. In scripts without spaces
 * each code point is a word. Not safe for use by several threads.
 */
final class WordPairs implements Features {

    private static final int BLANK = ' ';
    private static final int CODE_BITS = 21;

    /**
     * Code points, and positions in a word, of the letters whose hashes are computed in advance: 32
     * kB.
     */
    private static final int CODES = 1 << 7;

    private static final int POSITIONS = 1 << 5;
    private static final long[] LETTERS = letters();

    private final Longs words = new Longs();
    private final OccurrenceCounter occurrences = new OccurrenceCounter();
    private final KeyedLetters keyed = new KeyedLetters();

    @Override
    public Longs read(NormalText text, SipHash key) {
        words.clear(text.words() + 1);
        if (key == null) {
            addWords(text.codes());
        } else {
            keyed.use(key);
            addKeyedWords(text.codes());
        }
        pair();
        occurrences.number(words, key);
        return words;
    }

    @Override
    public void release(int most) {
        words.release(most);
        occurrences.release(most);
    }

    /** Makes the list of the hashes of all words: the mixed sum of their letters. */
    private void addWords(CodePoints codes) {
        long sum = 0;
        int position = 0;
        for (int i = 0; i < codes.size(); i++) {
            int code = codes.get(i);
            if (code == BLANK) {
                endWord(sum, position);
                sum = 0;
                position = 0;
            } else if (code < CODES && position < POSITIONS) {
                sum += LETTERS[position++ << 7 | code];
            } else if (Unicode13.isUnspaced(code)) {
                endWord(sum, position);
                words.add(Mix64.mix(Mix64.mix(code)));
                sum = 0;
                position = 0;
            } else {
                sum += Mix64.mix(code + ((long) position++ << CODE_BITS));
            }
        }
        endWord(sum, position);
    }

    private void addKeyedWords(CodePoints codes) {
        long sum = 0;
        int position = 0;
        for (int i = 0; i < codes.size(); i++) {
            int code = codes.get(i);
            boolean isUnspaced = Unicode13.isUnspaced(code);
            if (code == BLANK || isUnspaced) {
                endWord(sum, position);
                sum = 0;
                position = 0;
                if (isUnspaced) {
                    words.add(Mix64.mix(keyed.hash(code)));
                }
            } else {
                sum += keyed.hash(code + ((long) position++ << CODE_BITS));
            }
        }
        endWord(sum, position);
    }

    private void endWord(long sum, int letters) {
        if (letters > 0) {
            words.add(Mix64.mix(sum));
        }
    }

    /** Turns the hashes of words into those of pairs of neighbours. */
    private void pair() {
        int pairs = Math.max(0, words.size() - 1);
        long[] values = words.array();
        for (int i = 0; i < pairs; i++) {
            values[i] = Mix64.mix(Mix64.mix(values[i]) ^ values[i + 1]);
        }
        words.resize(pairs);
    }

    private static long[] letters() {
        long[] letters = new long[CODES * POSITIONS];
        for (int i = 0; i < letters.length; i++) {
            letters[i] = Mix64.mix((i & CODES - 1) + ((long) (i >> 7) << CODE_BITS));
        }
        return letters;
    }

    /** The keyed hashes of letters at their positions, of which the last ones are kept. */
    private static final class KeyedLetters {

        private static final int KEPT = 1 << 12;

        /** No letter at a position, and no number of an occurrence. */
        private static final long NO_LETTER = -1;

        private final long[] letters = new long[KEPT];
        private final long[] hashes = new long[KEPT];
        private SipHash key;

        void use(SipHash newKey) {
            if (key != newKey) {
                key = newKey;
                Arrays.fill(letters, NO_LETTER);
            }
        }

        long hash(long letter) {
            int place = (int) (letter ^ letter >>> CODE_BITS << 7) & KEPT - 1;
            if (letters[place] != letter) {
                letters[place] = letter;
                hashes[place] = key.hash(letter, NO_LETTER);
            }
            return hashes[place];
        }
    }

    /**
     * Turns the second and later occurrences of hashes into other features.
     *
     * <p>Where a hash stands depends on a random factor, so that nobody can write a text whose
     * hashes all collide.
     */
    private static final class OccurrenceCounter {

        private final long factor = ThreadLocalRandom.current().nextLong() | 1;
        private long[] hashes = {};
        private int[] counts = {};

        void number(Longs features, SipHash key) {
            int size = Math.max(16, Integer.highestOneBit(Math.max(1, features.size())) << 2);
            if (hashes.length < size) {
                hashes = new long[size];
                counts = new int[size];
            } else {
                Arrays.fill(hashes, 0, size, 0);
                Arrays.fill(counts, 0, size, 0);
            }
            int shift = Long.numberOfLeadingZeros(size) + 1;
            int zeros = 0;
            long[] values = features.array();
            for (int i = 0; i < features.size(); i++) {
                long hash = values[i];
                int before = hash == 0 ? zeros++ : countBefore(hash, shift, size - 1);
                if (key != null) {
                    values[i] = key.hash(hash, before);
                } else if (before > 0) {
                    values[i] = Mix64.mix(hash + before * Mix64.GAMMA);
                }
            }
        }

        private int countBefore(long hash, int shift, int mask) {
            int place = (int) (hash * factor >>> shift);
            while (hashes[place] != hash) {
                if (hashes[place] == 0) {
                    hashes[place] = hash;
                    break;
                }
                place = place + 1 & mask;
            }
            return counts[place]++;
        }

        void release(int most) {
            if (hashes.length > 4 * (long) most) {
                hashes = new long[0];
                counts = new int[0];
            }
        }
    }
}
