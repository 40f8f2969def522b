package org.nearfold.lucene;

import org.nearfold.core.Recipe;
import org.nearfold.core.compare.WordReader;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The hits of all shards in order of rank, folded on the coordinating node by what shards {@link
 * #report} of them.
 *
 * <p>Not safe for use by several threads.
 */
public final class HitWindow {

    private static final String RECIPE = "recipe";
    private static final String SKETCH = "sketch";
    private static final String EXACT = "exact";

    /** The hits of an engine, by rank. */
    public interface Hits {

        /** Returns the number of hits. */
        int size();

        /** Returns the name of the index of a hit. */
        String index(int rank);

        /** Returns the id of a hit. */
        String id(int rank);

        /** Returns the value of the field {@code near_fold} of a hit; null if it has none. */
        Map<String, Object> field(int rank);

        /** Returns the text of a hit from its source; null if it is not there. */
        String text(int rank);

        /** Sets the field {@code near_fold} of a hit. */
        void setField(int rank, Map<String, Object> value);

        /** Sets the score of a folded hit to zero. */
        void clearScore(int rank);
    }

    private final NearFoldOptions options;
    private final Hits hits;
    private final Runnable cancellation;
    private final String[] texts;
    private final GreedyFold fold;

    /**
     * Takes hits; those of another recipe than the first are not folded. {@code cancellation}
     * throws when the request was cancelled.
     */
    public HitWindow(NearFoldOptions options, Hits hits, Runnable cancellation) {
        this.options = options;
        this.hits = hits;
        this.cancellation = cancellation;
        texts = new String[hits.size()];
        fold = prepare();
    }

    /** Returns what a shard reports of a document: the columns that the measure needs. */
    public static Map<String, Object> report(ColumnReader columns, Recipe recipe)
            throws IOException {
        Map<String, Object> report = new HashMap<>();
        report.put(RECIPE, recipe.name());
        report.put(SKETCH, columns.sketch());
        report.put(EXACT, columns.exact());
        return report;
    }

    private GreedyFold prepare() {
        String name = null;
        WindowSketches sketches = null;
        Recipe recipe = null;
        for (int rank = 0; rank < hits.size(); rank++) {
            Map<String, Object> report = hits.field(rank);
            boolean isFirst = name == null;
            if (report == null || isFirst == false && name.equals(report.get(RECIPE)) == false) {
                continue;
            }
            if (isFirst) {
                name = (String) report.get(RECIPE);
                recipe = Recipe.withoutKey(name);
                sketches = new WindowSketches(hits.size(), options.sketchLength(recipe));
            }
            if (report.get(SKETCH) instanceof byte[] sketch) {
                sketches.put(rank, sketch);
            }
            if (report.get(EXACT) instanceof String digest) {
                sketches.putDigest(rank, digest);
            }
        }
        return name == null
                ? null
                : new GreedyFold(recipe, options.measure(), options.min(), sketches);
    }

    /**
     * Takes the texts that are in the hits, and returns the ranks of the others whose texts are
     * needed.
     */
    public BitSet missingTexts() {
        BitSet missing = new BitSet();
        BitSet needed = fold == null ? missing : fold.textsNeeded(cancellation);
        for (int rank = needed.nextSetBit(0); rank >= 0; rank = needed.nextSetBit(rank + 1)) {
            texts[rank] = hits.text(rank);
            missing.set(rank, texts[rank] == null);
        }
        return missing;
    }

    /** Sets the text of a hit; null where its document is gone. */
    public void setText(int rank, String text) {
        texts[rank] = text;
    }

    /**
     * Folds, sets the field {@code near_fold} of each hit whose index has the folded field, and
     * returns the ranks of the hits that are not folded and then those of the others.
     */
    public List<Integer> fold() throws IOException {
        List<Integer> order = new ArrayList<>();
        List<Integer> folded = new ArrayList<>();
        Map<Integer, List<Map<String, Object>>> members = new HashMap<>();
        int[] counts = new int[hits.size()];
        if (fold != null) {
            WordReader reader = new WordReader();
            fold.fold(
                    rank -> texts[rank] == null ? null : reader.read(texts[rank]), cancellation);
        }
        for (int rank = 0; rank < hits.size(); rank++) {
            int representative = fold == null ? GreedyFold.SHOWN : fold.representative(rank);
            if (representative == GreedyFold.SHOWN) {
                order.add(rank);
                members.put(rank, new ArrayList<>());
                continue;
            }
            folded.add(rank);
            List<Map<String, Object>> listed = members.get(representative);
            if (counts[representative]++ < options.maxMembers()) {
                listed.add(member(rank));
            }
        }
        for (int rank : order) {
            if (hits.field(rank) != null) {
                hits.setField(rank, Map.of("folded", counts[rank], "hits", members.get(rank)));
            }
        }
        for (int rank : folded) {
            String representative = hits.id(fold.representative(rank));
            float similarity = fold.similarity(rank);
            hits.setField(
                    rank, Map.of("folded_under", representative, "similarity", similarity));
            hits.clearScore(rank);
        }
        order.addAll(folded);
        return order;
    }

    private Map<String, Object> member(int rank) {
        return Map.of(
                "_index",
                hits.index(rank),
                "_id",
                hits.id(rank),
                "similarity",
                fold.similarity(rank));
    }
}
