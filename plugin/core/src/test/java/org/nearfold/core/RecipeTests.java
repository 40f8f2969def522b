package org.nearfold.core;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.junit.Test;

import java.util.List;

public class RecipeTests extends RandomizedTest {

    private static final String SECRET = "0123456789abcdef".repeat(4);

    @Test
    public void testIdsAreThoseOfThePythonPackage() {
        assertEquals("05acd0445251", Recipe.named("default_v1").id());
        assertEquals("61b6cbae3842", Recipe.named("default_v2").id());
        assertEquals("b0f9a3a55794", Recipe.named("default_v3").id());
        assertEquals("d7cfb914164a", Recipe.named("default_v2+key:legal", name -> SECRET).id());
    }

    @Test
    public void testAliases() {
        assertEquals(Recipe.named("default_v3"), Recipe.named("default"));
        assertEquals("scans_v1", Recipe.named("scans").name());
        assertEquals("simhash-doc-v2", Recipe.named("simhash-doc").name());
        assertEquals("simhash-doc-v2-loose", Recipe.named("simhash-doc-loose").name());
    }

    @Test
    public void testUnknownNames() {
        for (String name :
                List.of(
                        "",
                        "default_v0",
                        "clauses",
                        "ws:norm-html:sha1:128",
                        "simhash-doc:stop-en")) {
            String message = refusal(name);
            assertTrue(message, message.contains(name) && message.contains("default_v2"));
        }
        assertTrue(refusal("scans+key:legal").contains("takes no secret key"));
    }

    @Test
    public void testKeyWithoutSecret() {
        assertTrue(refusal("default_v2+key:legal").contains("nearfold.key.legal.secret"));
    }

    @Test
    public void testShortSecret() {
        IllegalArgumentException refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> Recipe.named("default+key:legal", name -> "short"));
        assertTrue(refused.getMessage().contains("32 characters"));
    }

    @Test
    public void testWithoutKey() {
        assertEquals(Recipe.named("default_v2"), Recipe.withoutKey("default_v2+key:legal"));
    }

    private static String refusal(String name) {
        return assertThrows(IllegalArgumentException.class, () -> Recipe.named(name)).getMessage();
    }
}
