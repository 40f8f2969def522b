package org.nearfold.lucene;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

import java.util.List;
import java.util.Map;

/** Options of requests, which both engines hand over as maps. */
public class OptionsTests {

    @Test
    public void queryHasDefaultsAndIsWrittenAsItIsRead() {
        NearDuplicateOptions options =
                NearDuplicateOptions.of(Map.of("field", "text.near", "like", "a ferry"));
        assertEquals(Measure.LCS, options.measure());
        assertEquals(0.8, options.min(), 0);
        assertEquals(options, NearDuplicateOptions.of(options.toMap()));
    }

    @Test
    public void queryForADocumentHasNoTextBeforeItIsRead() {
        Map<String, Object> like = Map.of("_index", "papers", "_id", "1", "routing", "north");
        NearDuplicateOptions options =
                NearDuplicateOptions.of(
                        Map.of("field", "text.near", "like", like, "include", "true"));
        assertNull(options.text());
        assertTrue(options.include());
        assertEquals(like, options.document().toMap());
        assertEquals(options, NearDuplicateOptions.of(options.toMap()));
        LikeDocument read = new LikeDocument("papers", "1", null, "a ferry");
        assertEquals("a ferry", options.with(read).text());
    }

    @Test
    public void rescorerHasDefaultsAndIsWrittenAsItIsRead() {
        NearFoldOptions options =
                NearFoldOptions.of(Map.of("field", "text.near", "max_members", "3"));
        assertEquals(0.9, options.min(), 0);
        assertEquals(3, options.maxMembers());
        assertEquals(options, NearFoldOptions.of(options.toMap()));
    }

    @Test
    public void optionsThatDoNotFitAreRefusedByName() {
        refused("does not support [colour]", Map.of("field", "f", "colour", 1));
        refused("[near_fold] needs [field]", Map.of());
        refused("takes one value of [field]", Map.of("field", List.of("f", "g")));
        refused("above 0 and at most 1", Map.of("field", "f", "minimum_similarity", 0));
        refused("[max_members] is 0 to 1000, not 1001", Map.of("field", "f", "max_members", 1001));
        refused("policy [strict] is not", Map.of("field", "f", "policy", "strict"));
        refused("marks [negated] are not", Map.of("field", "f", "marks", List.of("negated")));
    }

    @Test
    public void thePolicyThatDecidesNothingIsAccepted() {
        assertEquals(
                NearFoldOptions.of(Map.of("field", "f")),
                NearFoldOptions.of(Map.of("field", "f", "policy", "none", "marks", List.of())));
    }

    private static void refused(String reason, Map<String, Object> request) {
        IllegalArgumentException error =
                assertThrows(
                        IllegalArgumentException.class, () -> NearFoldOptions.of(request));
        assertTrue(error.getMessage(), error.getMessage().contains(reason));
    }
}
