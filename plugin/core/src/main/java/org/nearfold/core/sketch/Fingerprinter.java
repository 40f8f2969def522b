package org.nearfold.core.sketch;

import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;
import org.nearfold.core.text.Form;
import org.nearfold.core.text.NormalText;
import org.nearfold.core.text.Normaliser;

import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Fingerprints one text after the other by a recipe, in the same memory: nothing is allocated for a
 * word or a character. A thread has its own; it is not safe for use by several.
 */
public final class Fingerprinter {

    /** Characters beyond which the memory of a text is not kept for the next one. */
    private static final int KEPT = 1 << 18;

    private static final int DIGEST = 32;

    private final Recipe recipe;
    private final Form form;
    private final Features features;
    private final TokenHashes tokens;
    private final FastSimilaritySketch minhash;
    private final SimHash simhash = new SimHash();
    private final long[] masks;
    private final Normaliser normaliser = new Normaliser();
    private final NormalText text = new NormalText();
    private final MessageDigest sha256;

    public Fingerprinter(Recipe recipe) {
        this.recipe = recipe;
        form =
                switch (recipe.features()) {
                    case CHARS -> Form.DEFAULT_V1;
                    case WORD_PAIRS ->
                            recipe.keepsSymbols() ? Form.DEFAULT_V2_SYMBOLS : Form.DEFAULT_V2;
                    case TOKENS -> Form.VERBATIM;
                };
        features =
                switch (recipe.features()) {
                    case CHARS -> new Grams(recipe.width());
                    case WORD_PAIRS -> new WordPairs();
                    case TOKENS -> null;
                };
        tokens = features == null ? new TokenHashes(recipe.tokenVersion()) : null;
        minhash = recipe.slots() > 0 ? new FastSimilaritySketch(recipe.slots()) : null;
        masks =
                recipe.tables() != null
                        ? Blocks.design(recipe.tables())
                        : Blocks.equal(recipe.blocks());
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("this JVM has no SHA-256", error);
        }
    }

    /** Returns the fingerprint of any text, lone surrogates included. */
    public Fingerprint fingerprint(String original) {
        normaliser.normalise(original, form, text);
        byte[] digest = digest();
        Fingerprint plain =
                new Fingerprint(
                        Status.EMPTY,
                        null,
                        null,
                        Keys.NONE,
                        Keys.NONE,
                        digest,
                        text.words(),
                        text.chars());
        boolean isVisible = form == Form.VERBATIM ? text.isVisible() : text.chars() > 0;
        Fingerprint signed = isVisible ? sign(original, plain) : plain;
        if (original.length() > KEPT) {
            release();
        }
        return signed;
    }

    private Fingerprint sign(String original, Fingerprint plain) {
        boolean isWords = recipe.features() == Recipe.Features.WORD_PAIRS;
        if (text.hasLetters() == false && isWords == false) {
            return plain.with(Status.NUMBERS_ONLY);
        }
        SipHash key = recipe.key() == null ? null : recipe.key().hash();
        Longs hashes =
                features == null ? tokens.read(original, normaliser) : features.read(text, key);
        boolean isEnough = hashes.size() >= Math.max(1, recipe.minFeatures());
        Status status = isEnough ? Status.COMPLETE : Status.TOO_SHORT;
        if (text.hasLetters() == false) {
            status = Status.NUMBERS_ONLY;
        }
        return isEnough ? sketch(hashes, plain.with(status)) : plain.with(status);
    }

    private Fingerprint sketch(Longs hashes, Fingerprint plain) {
        byte[] slots = null;
        Keys bands = Keys.NONE;
        if (minhash != null) {
            long[] values = minhash.sketch(hashes);
            slots = pack(values);
            bands = Keys.ofBands(values, recipe.bands(), recipe.rows(), recipe.keyDigits());
        }
        Long bits = null;
        Keys blocks = Keys.NONE;
        if (recipe.hasSimHash()) {
            bits = simhash.of(hashes);
            blocks = Keys.ofMasks(bits, masks);
        }
        return new Fingerprint(
                plain.status(),
                slots,
                bits,
                bands,
                blocks,
                plain.digest(),
                plain.words(),
                plain.chars());
    }

    /**
     * Returns the slots as they are stored; of packed ones the low byte, to which {@code slots} are
     * cut, too.
     */
    private byte[] pack(long[] slots) {
        byte[] bytes = new byte[recipe.sketchBytes()];
        for (int i = 0; i < slots.length; i++) {
            if (recipe.isPacked()) {
                slots[i] &= 0xFF;
                bytes[i] = (byte) slots[i];
            } else {
                for (int octet = 0; octet < 4; octet++) {
                    bytes[4 * i + octet] = (byte) (slots[i] >>> 24 - 8 * octet);
                }
            }
        }
        return bytes;
    }

    private byte[] digest() {
        sha256.update(text.utf8(), 0, text.utf8Length());
        if (text.utf8Length() > 0 && text.symbols().isEmpty() == false) {
            sha256.update((byte) '\n');
            sha256.update(text.symbols().getBytes(StandardCharsets.UTF_8));
        }
        byte[] digest = new byte[DIGEST];
        try {
            sha256.digest(digest, 0, DIGEST);
        } catch (DigestException error) {
            throw new IllegalStateException("SHA-256 is longer than 32 bytes", error);
        }
        return digest;
    }

    private void release() {
        normaliser.release(KEPT);
        text.release(KEPT);
        if (features != null) {
            features.release(KEPT);
        } else {
            tokens.release(KEPT);
        }
    }
}
