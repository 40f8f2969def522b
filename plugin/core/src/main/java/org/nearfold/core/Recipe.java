package org.nearfold.core;

import org.nearfold.core.sketch.SecretKey;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Every setting that can change a stored byte, by name. Immutable.
 *
 * <p>A published recipe never changes: what a mapping names is fingerprinted in the same way for
 * ever.
 */
public final class Recipe {

    /** What a sketch is made of. */
    public enum Features {
        /** Runs of characters of a text normalised by {@code default_v1}. */
        CHARS,
        /** Occurrences of word pairs of a text normalised by {@code default_v2}. */
        WORD_PAIRS,
        /** Tokens of the {@code simhash-doc} scheme. */
        TOKENS
    }

    /** The names that {@link #named} knows, for messages. */
    public static final String NAMES =
            "default, default_v1, default_v2, default_v3, scans, simhash-doc[-v1..v6][-loose]; "
                    + "default_v1 to default_v3 take a secret key, as in default_v2+key:NAME";

    private static final Pattern KEYED = Pattern.compile("(.+)\\+key:([a-z][a-z0-9_]{0,31})");
    private static final Pattern DOC = Pattern.compile("simhash-doc(?:-(v[1-6]))?(-loose)?");

    private final String name;
    private final Features features;
    private final Map<String, Object> settings;
    private final SecretKey key;
    private final String keyName;
    private final String id;
    private final int slots;
    private final boolean isPacked;

    private Recipe(Features features, Map<String, Object> settings, String keyName, SecretKey key) {
        this.name = (String) settings.get("name");
        this.features = features;
        this.settings = settings;
        this.keyName = keyName;
        this.key = key;
        this.id = digest(settings);
        slots = number("slots");
        isPacked = number("packed") == 8;
    }

    /**
     * Returns the recipe of a name.
     *
     * @param secrets gives the secret of a key's name; null where there is none
     * @throws IllegalArgumentException for another name, and for a key without secret; the message
     *     names what there is
     */
    public static Recipe named(String name, Function<String, String> secrets) {
        Matcher keyed = KEYED.matcher(name);
        if (keyed.matches()) {
            return keyed(keyed.group(1), keyed.group(2), secrets);
        }
        Matcher doc = DOC.matcher(name);
        if (doc.matches()) {
            return document(doc.group(1) == null ? "v2" : doc.group(1), doc.group(2) != null);
        }
        return switch (name) {
            case "default_v1" -> new Recipe(Features.CHARS, defaultV1(), null, null);
            case "default_v2" -> new Recipe(Features.WORD_PAIRS, defaultV2(), null, null);
            case "default", "default_v3" ->
                    new Recipe(Features.WORD_PAIRS, defaultV3(), null, null);
            case "scans", "scans_v1" -> new Recipe(Features.CHARS, scansV1(), null, null);
            default ->
                    throw new IllegalArgumentException(
                            "recipe [" + name + "] is unknown; there are " + NAMES);
        };
    }

    /** Returns the recipe of a name without a key. */
    public static Recipe named(String name) {
        return named(name, key -> null);
    }

    /**
     * Returns the recipe of a name as if it had no key: to compare sketches, not to make them.
     *
     * @throws IllegalArgumentException for an unknown name
     */
    public static Recipe withoutKey(String name) {
        Matcher keyed = KEYED.matcher(name);
        return named(keyed.matches() ? keyed.group(1) : name);
    }

    /** Returns the name, with its version. */
    public String name() {
        return name;
    }

    /**
     * Returns the first 12 hexadecimal digits of the SHA-256 of the sorted JSON of all settings.
     */
    public String id() {
        return id;
    }

    public Features features() {
        return features;
    }

    /** Returns the characters of a run; 0 of words and tokens. */
    public int width() {
        return number("width");
    }

    /** Returns the slots of the MinHash; 0 without one. */
    public int slots() {
        return slots;
    }

    public int bands() {
        return number("bands");
    }

    /** Returns the slots of a band. */
    public int rows() {
        return number("rows");
    }

    /** Returns whether one byte of each slot is kept, not four. */
    public boolean isPacked() {
        return isPacked;
    }

    /** Returns the base-32 digits of a band's key; 0 for a long key. */
    public int keyDigits() {
        return number("key_digits");
    }

    public boolean hasSimHash() {
        return settings.containsKey("simhash");
    }

    /** Returns the equal blocks of the SimHash; 0 without any. */
    public int blocks() {
        return number("blocks");
    }

    /** Returns the levels of the block design, such as {@code 4/1,4/1}; null without one. */
    public String tables() {
        return (String) settings.get("tables");
    }

    /** Returns whether the digest of a text reads its symbols of value, too. */
    public boolean keepsSymbols() {
        return settings.containsKey("exact");
    }

    /** Returns the fewest distinct features of a complete text. */
    public int minFeatures() {
        return number("min_features");
    }

    /** Returns the fewest bands that a candidate shares. */
    public int sharedBands() {
        return Math.max(1, number("shared"));
    }

    /** Returns the version of the tokens; only of recipes of {@link Features#TOKENS}. */
    public String tokenVersion() {
        return ((String) settings.get("features")).substring("tokens_".length());
    }

    /** Returns the bytes of a stored sketch of slots; 0 without one. */
    public int sketchBytes() {
        return slots() * (isPacked() ? 1 : 4);
    }

    /** Returns the secret key; null without one. */
    public SecretKey key() {
        return key;
    }

    /** Returns the name of the secret key; null without one. */
    public String keyName() {
        return keyName;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Recipe recipe && recipe.id.equals(id);
    }

    @Override
    public int hashCode() {
        return id.hashCode();
    }

    @Override
    public String toString() {
        return name + " (" + id + ")";
    }

    private int number(String setting) {
        return (Integer) settings.getOrDefault(setting, 0);
    }

    private static Recipe keyed(String plain, String keyName, Function<String, String> secrets) {
        boolean isV1 = plain.equals("default_v1");
        boolean isV2 = plain.equals("default_v2");
        if (isV1 == false
                && isV2 == false
                && plain.equals("default_v3") == false
                && plain.equals("default") == false) {
            throw new IllegalArgumentException(
                    "recipe [" + plain + "] takes no secret key; there are " + NAMES);
        }
        String secret = secrets.apply(keyName);
        if (secret == null) {
            throw new IllegalArgumentException(
                    "recipe ["
                            + plain
                            + "+key:"
                            + keyName
                            + "] symbols with a secret key: add [nearfold.key."
                            + keyName
                            + ".secret] to the keystore of every node");
        }
        SecretKey key = new SecretKey(secret);
        Map<String, Object> settings = isV1 ? defaultV1() : isV2 ? defaultV2() : defaultV3();
        settings.put("name", settings.get("name") + "+key:" + keyName);
        settings.put("feature_hash", isV1 ? "sip24_v1" : "sip24_pairs_v1");
        settings.put("key", key.fingerprint());
        return new Recipe(isV1 ? Features.CHARS : Features.WORD_PAIRS, settings, keyName, key);
    }

    private static Map<String, Object> defaultV1() {
        Map<String, Object> settings =
                slots("default_v1", "default_v1", "chars_v1", "gram64_v1", 21, 6, 8);
        settings.put("width", 4);
        settings.put("simhash", "distinct_v1");
        settings.put("bits", 64);
        settings.put("blocks", 4);
        return settings;
    }

    private static Map<String, Object> defaultV2() {
        Map<String, Object> settings =
                slots("default_v2", "default_v2", "word_pairs_v1", "word64_v1", 42, 3, 3);
        return packed(settings);
    }

    private static Map<String, Object> defaultV3() {
        Map<String, Object> settings = defaultV2();
        settings.put("name", "default_v3");
        settings.put("simhash", "distinct_v1");
        settings.put("bits", 64);
        settings.put("blocks", 4);
        settings.put("exact", "symbols_v1");
        return settings;
    }

    private static Map<String, Object> scansV1() {
        Map<String, Object> settings =
                slots("scans_v1", "default_v1", "chars_v1", "gram64_v1", 42, 3, 8);
        settings.put("width", 6);
        return packed(settings);
    }

    private static Map<String, Object> slots(
            String name,
            String normaliser,
            String features,
            String hash,
            int bands,
            int rows,
            int minFeatures) {
        Map<String, Object> settings = new TreeMap<>();
        settings.put("name", name);
        settings.put("normaliser", normaliser);
        settings.put("features", features);
        settings.put("feature_hash", hash);
        settings.put("minhash", "fss_v1");
        settings.put("slots", 128);
        settings.put("bands", bands);
        settings.put("rows", rows);
        settings.put("similarity", 0.8);
        settings.put("min_features", minFeatures);
        return settings;
    }

    private static Map<String, Object> packed(Map<String, Object> settings) {
        settings.put("packed", 8);
        settings.put("shared", 2);
        settings.put("key_digits", 5);
        return settings;
    }

    private static Recipe document(String version, boolean isLoose) {
        Map<String, Object> settings = new TreeMap<>();
        settings.put("name", "simhash-doc-" + version + (isLoose ? "-loose" : ""));
        settings.put("normaliser", "none");
        settings.put("features", "tokens_" + version);
        settings.put("feature_hash", "jenkins64_v1");
        settings.put("simhash", "simhash_doc_" + version);
        settings.put("bits", 64);
        settings.put("tables", isLoose ? "8/2" : "4/1,4/1");
        settings.put("min_features", 1);
        return new Recipe(Features.TOKENS, settings, null, null);
    }

    private static String digest(Map<String, Object> settings) {
        StringBuilder json = new StringBuilder("{");
        settings.forEach(
                (setting, value) -> {
                    json.append(json.length() > 1 ? "," : "")
                            .append('"')
                            .append(setting)
                            .append("\":");
                    json.append(value instanceof String ? "\"" + value + "\"" : value);
                });
        byte[] bytes = json.append('}').toString().getBytes(StandardCharsets.US_ASCII);
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes), 0, 6);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("this JVM has no SHA-256", error);
        }
    }
}
