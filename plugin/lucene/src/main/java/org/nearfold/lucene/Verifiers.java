package org.nearfold.lucene;

import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedNumericDocValues;
import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.Words;
import org.nearfold.core.compare.WordsInOrder;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** The verifiers of the measures. */
final class Verifiers {

    private static final float SLOTS_COST = 100;
    private static final float TEXT_COST = 1_000_000;
    private static final int BITS = 64;

    private Verifiers() {}

    /** By the estimate of equal slots. */
    static final class BySlots implements Verifier {

        private final Recipe recipe;
        private final byte[] sketch;
        private int fewest;
        private final SketchValues values;
        private int equal;

        BySlots(LeafReader segment, String field, Recipe recipe, byte[] sketch, int fewest)
                throws IOException {
            this.recipe = recipe;
            this.sketch = sketch;
            this.fewest = fewest;
            values = new SketchValues(segment, field, recipe.sketchBytes());
        }

        @Override
        public boolean matches(int document) throws IOException {
            equal =
                    values.advance(document)
                            ? Slots.equal(recipe, sketch, 0, values.bytes(), values.start())
                            : 0;
            return equal >= fewest;
        }

        /** Returns the equal slots of the document that was looked at last. */
        int equal() {
            return equal;
        }

        @Override
        public float similarity() {
            return (float) Slots.similarity(recipe, equal);
        }

        @Override
        public String description() {
            return equal + " of " + recipe.slots() + " slots equal";
        }

        @Override
        public float cost() {
            return SLOTS_COST;
        }
    }

    /** By the words in order of the stored texts that slots do not rule out. */
    static final class ByWords implements Verifier {

        private static final double ROUNDING = 1e-6;

        private final LeafReaderContext segment;
        private final Recipe recipe;
        private final BySlots slots;
        private final DocumentWords documents;
        private final WordsInOrder comparison = new WordsInOrder();
        private final Words words;
        private final CopyNumbers copies;
        private final SortedNumericDocValues counts;
        private final Map<Long, Result> results = new HashMap<>();
        private double min;
        private Result result = Result.NONE;

        /** The similarity to a text, and the words of the longer of both; 0 if it was not read. */
        private record Result(double similarity, int longer) {

            static final Result NONE = new Result(0, 0);
        }

        ByWords(
                LeafReaderContext segment,
                String field,
                Recipe recipe,
                Fingerprint like,
                Words words,
                double min,
                int fewestSlots,
                TextReader texts)
                throws IOException {
            this.segment = segment;
            this.recipe = recipe;
            this.min = min;
            slots = new BySlots(segment.reader(), field, recipe, like.minhash(), fewestSlots);
            this.words = words;
            documents = new DocumentWords(field, texts);
            copies = new CopyNumbers(segment.reader(), field, recipe);
            counts =
                    DocValues.getSortedNumeric(
                            segment.reader(), Columns.of(field, Columns.WORDS));
        }

        @Override
        public boolean matches(int document) throws IOException {
            result = Result.NONE;
            if (min > 1 || slots.matches(document) == false) {
                return false;
            }
            long copy = copies.of(document);
            result = copy == CopyNumbers.NONE ? null : results.get(copy);
            if (result == null) {
                int count = copy == CopyNumbers.NONE ? words.size() : count(document);
                result = isTooFar(count) ? tooFar(count) : compare(document);
                results.put(copy, result);
            }
            double common = result.similarity * result.longer;
            return common > 0 && common > min * result.longer - 1e-9;
        }

        /** Returns the words of a document with a number: its whole text was counted. */
        private int count(int document) throws IOException {
            return counts.advanceExact(document) ? (int) counts.nextValue() : words.size();
        }

        /** Returns whether the shorter of two texts has too few words to be similar. */
        private boolean isTooFar(int count) {
            int longer = Math.max(words.size(), count);
            return Math.min(words.size(), count) <= min * longer - 1e-9;
        }

        private Result tooFar(int count) {
            return new Result(0, Math.max(words.size(), count));
        }

        private Result compare(int document) throws IOException {
            Words other = documents.read(segment, document);
            if (other == null) {
                return Result.NONE;
            }
            return new Result(
                    comparison.similarity(words, other, min),
                    Math.max(words.size(), other.size()));
        }

        @Override
        public void raise(double competitive) {
            double raised = competitive > 1 ? competitive : competitive - ROUNDING;
            if (raised > min) {
                min = raised;
                slots.fewest = Math.max(slots.fewest, SlotBounds.fewestEqual(recipe, min));
            }
        }

        @Override
        public float similarity() {
            return (float) result.similarity;
        }

        @Override
        public String description() {
            if (result.longer == 0) {
                return "ruled out by " + slots.description();
            }
            String words = " of " + result.longer + " words in order";
            return result.similarity > 0
                    ? Math.round(result.similarity * result.longer) + words
                    : "too few" + words;
        }

        @Override
        public float cost() {
            return TEXT_COST;
        }
    }

    /** By different bits of the SimHash. */
    static final class ByBits implements Verifier {

        private final long sketch;
        private final int mostDifferent;
        private final SketchValues values;
        private int different;

        ByBits(LeafReader segment, String column, long sketch, double min) throws IOException {
            this.sketch = sketch;
            mostDifferent = (int) Math.floor((1 - min) * BITS + 1e-9);
            values = new SketchValues(segment, column, Long.BYTES);
        }

        @Override
        public boolean matches(int document) throws IOException {
            if (values.advance(document) == false) {
                different = BITS;
                return false;
            }
            different = Long.bitCount(sketch ^ bits(values.bytes(), values.start()));
            return different <= mostDifferent && different < BITS;
        }

        @Override
        public float similarity() {
            return 1 - (float) different / BITS;
        }

        @Override
        public String description() {
            return different + " of " + BITS + " bits different";
        }

        @Override
        public float cost() {
            return SLOTS_COST;
        }
    }

    /** Returns the 64 bits that begin at an offset, most significant byte first. */
    static long bits(byte[] bytes, int start) {
        long bits = 0;
        for (int i = start; i < start + Long.BYTES; i++) {
            bits = bits << 8 | bytes[i] & 0xFF;
        }
        return bits;
    }
}
