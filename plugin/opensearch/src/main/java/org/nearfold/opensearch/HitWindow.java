package org.nearfold.opensearch;

import org.nearfold.core.Recipe;
import org.nearfold.core.compare.WordReader;
import org.nearfold.lucene.GreedyFold;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.TextReader;
import org.nearfold.lucene.WindowSketches;
import org.opensearch.action.get.GetResponse;
import org.opensearch.common.document.DocumentField;
import org.opensearch.common.xcontent.support.XContentMapValues;
import org.opensearch.search.SearchHit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/**
 * The hits of all shards in order of rank, with what {@link NearFoldFetchPhase} reported of them.
 *
 * <p>Not safe for use by several threads.
 */
final class HitWindow {

    private final NearFoldOptions options;
    private final SearchHit[] hits;
    private final String[] texts;
    private final GreedyFold fold;

    /** Takes hits; those of another recipe than the first are shown. */
    HitWindow(NearFoldOptions options, SearchHit[] hits) {
        this.options = options;
        this.hits = hits;
        texts = new String[hits.length];
        fold = prepare();
    }

    private GreedyFold prepare() {
        String name = null;
        WindowSketches sketches = null;
        Recipe recipe = null;
        for (int rank = 0; rank < hits.length; rank++) {
            Map<String, Object> report = report(hits[rank]);
            if (report == null
                    || name != null
                            && name.equals(report.get(NearFoldFetchPhase.RECIPE)) == false) {
                continue;
            }
            if (name == null) {
                name = (String) report.get(NearFoldFetchPhase.RECIPE);
                recipe = Recipe.withoutKey(name);
                sketches = new WindowSketches(hits.length, options.sketchLength(recipe));
            }
            if (report.get(NearFoldFetchPhase.SKETCH) instanceof byte[] sketch) {
                sketches.put(rank, sketch);
            }
            if (report.get(NearFoldFetchPhase.EXACT) instanceof String digest) {
                sketches.putDigest(rank, digest);
            }
        }
        return name == null
                ? null
                : new GreedyFold(recipe, options.measure(), options.min(), sketches);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> report(SearchHit hit) {
        DocumentField field = hit.field(NearFoldOptions.NAME);
        return field == null ? null : (Map<String, Object>) field.getValue();
    }

    /**
     * Takes the texts that are in the hits, and returns the ranks of the others whose texts are
     * needed.
     */
    BitSet missingTexts() {
        BitSet missing = new BitSet();
        if (fold == null) {
            return missing;
        }
        fold.textsNeeded().stream()
                .forEach(
                        rank -> {
                            Map<String, Object> source =
                                    hits[rank].hasSource() ? hits[rank].getSourceAsMap() : Map.of();
                            texts[rank] = text(source);
                            if (texts[rank] == null) {
                                missing.set(rank);
                            }
                        });
        return missing;
    }

    /** Sets the text of a hit; null where its document is gone. */
    void setText(int rank, GetResponse response) {
        boolean isThere =
                response != null && response.isExists() && response.isSourceEmpty() == false;
        texts[rank] = isThere ? text(response.getSourceAsMap()) : null;
    }

    private String text(Map<String, Object> source) {
        return TextReader.find(
                options.field(), path -> XContentMapValues.extractValue(path, source));
    }

    /**
     * Folds, and returns the shown hits and then the folded ones, each with its field {@code
     * near_fold}.
     */
    List<SearchHit> fold() throws IOException {
        List<SearchHit> shown = new ArrayList<>();
        List<SearchHit> folded = new ArrayList<>();
        List<List<Map<String, Object>>> members = new ArrayList<>();
        int[] counts = new int[hits.length];
        int[] places = new int[hits.length];
        if (fold != null) {
            WordReader reader = new WordReader();
            fold.fold(
                    rank -> texts[rank] == null ? null : reader.read(texts[rank]), () -> {});
        }
        for (int rank = 0; rank < hits.length; rank++) {
            int representative = fold == null ? GreedyFold.SHOWN : fold.representative(rank);
            if (representative == GreedyFold.SHOWN) {
                places[rank] = shown.size();
                shown.add(hits[rank]);
                members.add(new ArrayList<>());
                continue;
            }
            counts[representative]++;
            float similarity = fold.similarity(rank);
            List<Map<String, Object>> listed = members.get(places[representative]);
            if (listed.size() < options.maxMembers()) {
                listed.add(
                        Map.of(
                                "_index",
                                hits[rank].getIndex(),
                                "_id",
                                hits[rank].getId(),
                                "similarity",
                                similarity));
            }
            setField(
                    hits[rank],
                    Map.of("folded_under", hits[representative].getId(), "similarity", similarity));
            hits[rank].score(0);
            folded.add(hits[rank]);
        }
        for (int rank = 0; rank < hits.length; rank++) {
            if (fold == null || fold.representative(rank) == GreedyFold.SHOWN) {
                setField(
                        hits[rank],
                        Map.of("folded", counts[rank], "hits", members.get(places[rank])));
            }
        }
        shown.addAll(folded);
        return shown;
    }

    private static void setField(SearchHit hit, Map<String, Object> value) {
        hit.setDocumentField(
                NearFoldOptions.NAME, new DocumentField(NearFoldOptions.NAME, List.of(value)));
    }
}
