package org.nearfold.lucene;

import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.SparseFixedBitSet;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.SlotBounds;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * The fewest equal slots of the candidates of a shard whose texts are compared, so that no more
 * texts than a maximum are read: those with the most equal slots. Texts that slots cannot tell from
 * the given one are read however many they are.
 *
 * <p>Computed once, when it is first needed. Safe for use by several threads.
 */
final class SlotCutoff {

    private static final int UNKNOWN = -1;

    private final Weight candidates;
    private final List<LeafReaderContext> segments;
    private final String field;
    private final Recipe recipe;
    private final byte[] sketch;
    private final int fewest;
    private final int maxTexts;
    private int cutoff = UNKNOWN;

    /**
     * Of each segment the documents that slots do not rule out, each with its equal slots in the
     * low half, where all candidates were counted.
     */
    private final Map<Integer, long[]> counted = new HashMap<>();

    /**
     * Takes the candidates and where to find them.
     *
     * @param sketch of the text that candidates are compared with
     * @param fewest the fewest equal slots of a document that is not ruled out
     */
    SlotCutoff(
            Weight candidates,
            List<LeafReaderContext> segments,
            String field,
            Recipe recipe,
            byte[] sketch,
            int fewest,
            int maxTexts) {
        this.candidates = candidates;
        this.segments = segments;
        this.field = field;
        this.recipe = recipe;
        this.sketch = sketch;
        this.fewest = fewest;
        this.maxTexts = maxTexts;
    }

    /** Returns the fewest equal slots of a document whose text is to be compared. */
    synchronized int fewestEqual() throws IOException {
        if (cutoff == UNKNOWN) {
            cutoff = mayBeMany() ? compute() : fewest;
        }
        return cutoff;
    }

    /**
     * Returns the candidates of a segment whose texts are to be compared where all were counted,
     * else the given ones.
     */
    DocIdSetIterator narrow(LeafReaderContext segment, DocIdSetIterator documents)
            throws IOException {
        int min = fewestEqual();
        long[] every = counted.get(segment.ord);
        if (every == null) {
            return documents;
        }
        SparseFixedBitSet kept = new SparseFixedBitSet(segment.reader().maxDoc());
        int size = 0;
        for (long one : every) {
            if ((int) one >= min) {
                kept.set((int) (one >>> 32));
                size++;
            }
        }
        return new BitSetIterator(kept, size);
    }

    private boolean mayBeMany() throws IOException {
        long cost = 0;
        for (LeafReaderContext segment : segments) {
            ScorerSupplier supplier = candidates.scorerSupplier(segment);
            cost += supplier == null ? 0 : supplier.cost();
        }
        return cost > maxTexts;
    }

    private int compute() throws IOException {
        int[] counts = new int[recipe.slots() + 1];
        for (LeafReaderContext segment : segments) {
            Scorer scorer = candidates.scorer(segment);
            if (scorer != null) {
                counted.put(
                        segment.ord, count(scorer.iterator(), segment.reader(), counts));
            }
        }
        int equal = SlotBounds.fewestEqual(recipe, 1);
        int texts = 0;
        for (int i = equal; i < counts.length; i++) {
            texts += counts[i];
        }
        while (equal > fewest && texts + counts[equal - 1] <= maxTexts) {
            equal--;
            texts += counts[equal];
        }
        return Math.max(equal, fewest);
    }

    /**
     * Counts the candidates of a segment by their equal slots, those with the same text once;
     * returns all of them.
     */
    private long[] count(DocIdSetIterator documents, LeafReader segment, int[] counts)
            throws IOException {
        Verifiers.BySlots slots = new Verifiers.BySlots(segment, field, recipe, sketch, fewest);
        CopyNumbers copies = new CopyNumbers(segment, field, recipe);
        Set<Long> texts = new HashSet<>();
        LongStream.Builder every = LongStream.builder();
        Bits live = segment.getLiveDocs();
        int document = documents.nextDoc();
        while (document != DocIdSetIterator.NO_MORE_DOCS) {
            if ((live == null || live.get(document)) && slots.matches(document)) {
                every.add((long) document << 32 | slots.equal());
                long copy = copies.of(document);
                if (copy == CopyNumbers.NONE || texts.add(copy)) {
                    counts[slots.equal()]++;
                }
            }
            document = documents.nextDoc();
        }
        return every.build().toArray();
    }
}
