package org.nearfold.lucene;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import org.junit.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Hits that shards reported, folded on the coordinating node. */
public class HitWindowTests {

    private static final NearFoldOptions OPTIONS =
            NearFoldOptions.of(Map.of("field", "text.near"));

    private final Map<Integer, Map<String, Object>> fields = new HashMap<>();

    private final HitWindow.Hits hits =
            new HitWindow.Hits() {
                @Override
                public int size() {
                    return 3;
                }

                @Override
                public String index(int rank) {
                    return "papers";
                }

                @Override
                public String id(int rank) {
                    return "" + rank;
                }

                @Override
                public Map<String, Object> field(int rank) {
                    return fields.get(rank);
                }

                @Override
                public String text(int rank) {
                    return "a ferry";
                }

                @Override
                public void setField(int rank, Map<String, Object> value) {
                    fields.put(rank, value);
                }

                @Override
                public void clearScore(int rank) {}
            };

    private void reportCopies(int... ranks) {
        for (int rank : ranks) {
            fields.put(rank, Map.of("recipe", "default_v3", "exact", "AAAAAAAAAAAAAAAA"));
        }
    }

    @Test
    public void hitsOfAnIndexWithoutTheFieldGetNone() throws IOException {
        reportCopies(0, 2);
        List<Integer> order = new HitWindow(OPTIONS, hits, () -> {}).fold();
        assertEquals(Arrays.asList(0, 1, 2), order);
        assertEquals(1, fields.get(0).get("folded"));
        assertNull(fields.get(1));
        assertEquals("0", fields.get(2).get("folded_under"));
    }

    @Test
    public void foldingStopsWhenTheRequestWasCancelled() {
        reportCopies(0, 1, 2);
        HitWindow window =
                new HitWindow(
                        OPTIONS,
                        hits,
                        () -> {
                            throw new IllegalStateException("cancelled");
                        });
        assertThrows(IllegalStateException.class, window::missingTexts);
        assertThrows(IllegalStateException.class, window::fold);
    }
}
