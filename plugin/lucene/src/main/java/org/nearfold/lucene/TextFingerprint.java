package org.nearfold.lucene;

import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.util.BytesRef;
import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;
import org.nearfold.core.sketch.Keys;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The text of one document, whose fingerprint is made when the index writer first asks for a value.
 *
 * <p>The parser hands a list of texts over one by one; until then they have been joined, a text a
 * line. A failure never refuses a document: its status is {@code unsigned}.
 */
public final class TextFingerprint {

    /** The UTF-16 units of a text that are read unless a mapping gives another limit. */
    public static final int DEFAULT_MAX_LENGTH = 10_000_000;

    private static final int LARGEST_MAX_LENGTH = 100_000_000;

    private final Fingerprinters fingerprinters;
    private final int limit;
    private final StringBuilder joined = new StringBuilder();
    private String text;
    private Fingerprint made;

    /** Takes the UTF-16 units of a text that are read; what is beyond them is left out. */
    public TextFingerprint(Fingerprinters fingerprinters, int limit) {
        this.fingerprinters = fingerprinters;
        this.limit = limit;
    }

    /**
     * Checks the limit of a mapping.
     *
     * @throws IllegalArgumentException if it is out of range
     */
    public static void checkMaxLength(int length) {
        if (length < 1 || length > LARGEST_MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "[max_length] is 1 to "
                            + LARGEST_MAX_LENGTH
                            + " UTF-16 units, not "
                            + length);
        }
    }

    /** Adds a text of the document. */
    public void add(String more) {
        if (text == null) {
            text = more;
            return;
        }
        if (joined.length() == 0) {
            joined.append(text);
        }
        if (joined.length() <= limit) {
            joined.append('\n').append(more);
        }
    }

    /** Returns what made a field; null for a field of another origin, and for none. */
    public static TextFingerprint of(IndexableField field) {
        return field instanceof Lazy lazy ? lazy.owner() : null;
    }

    /** Returns the fields of the document below {@code name}. */
    public List<IndexableField> fields(String name) {
        Recipe recipe = fingerprinters.recipe();
        List<IndexableField> fields = new ArrayList<>(8);
        if (recipe.slots() > 0) {
            fields.add(new Keyed(name, () -> get().bands()));
            fields.add(new Binary(name, () -> get().minhash()));
        }
        if (recipe.hasSimHash()) {
            String bits = Columns.of(name, Columns.SIMHASH);
            fields.add(new Keyed(bits, () -> get().blocks()));
            fields.add(new Binary(bits, () -> bytes(get().simhash())));
        }
        fields.add(new Word(Columns.of(name, Columns.STATUS), () -> get().status().label()));
        fields.add(new Word(Columns.of(name, Columns.EXACT), () -> get().exact()));
        fields.add(new Count(Columns.of(name, Columns.WORDS), () -> get().words()));
        fields.add(new Count(Columns.of(name, Columns.CHARS), () -> get().chars()));
        return fields;
    }

    /** Returns the fingerprint of all texts that were added. */
    public Fingerprint get() {
        if (made == null) {
            made = make(joined.length() == 0 ? text : joined.toString());
        }
        return made;
    }

    private Fingerprint make(String whole) {
        boolean isTruncated = whole.length() > limit;
        try {
            Fingerprint fingerprint =
                    fingerprinters
                            .get()
                            .fingerprint(isTruncated ? whole.substring(0, limit) : whole);
            boolean isCut = isTruncated && fingerprint.status() == Status.COMPLETE;
            return isCut ? fingerprint.with(Status.TRUNCATED) : fingerprint;
        } catch (RuntimeException | StackOverflowError error) {
            return new Fingerprint(
                    Status.UNSIGNED, null, null, Keys.NONE, Keys.NONE, digest(whole), 0, 0);
        }
    }

    /** Returns the digest of a text as it is, so that copies of it still match. */
    private static byte[] digest(String whole) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(whole.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException("this JVM has no SHA-256", error);
        }
    }

    private static byte[] bytes(Long bits) {
        return bits == null ? null : ByteBuffer.allocate(Long.BYTES).putLong(bits).array();
    }

    private static BytesRef ascii(String word) {
        return new BytesRef(word.getBytes(StandardCharsets.US_ASCII));
    }

    /** A field whose value is made when the index writer asks for it. */
    private abstract class Lazy extends Field {

        Lazy(String name, FieldType type) {
            super(name, type);
        }

        TextFingerprint owner() {
            return TextFingerprint.this;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + "<" + name() + ">";
        }
    }

    private final class Keyed extends Lazy {

        private final Supplier<Keys> keys;

        Keyed(String name, Supplier<Keys> keys) {
            super(name, Columns.KEYS);
            this.keys = keys;
        }

        @Override
        public TokenStream tokenStream(Analyzer analyzer, TokenStream reuse) {
            KeyStream stream = reuse instanceof KeyStream used ? used : new KeyStream();
            return stream.of(keys.get());
        }
    }

    private final class Binary extends Lazy {

        private final Supplier<byte[]> value;

        Binary(String name, Supplier<byte[]> value) {
            super(name, Columns.BINARY);
            this.value = value;
        }

        @Override
        public BytesRef binaryValue() {
            return BinarySpelling.encode(value.get());
        }
    }

    private final class Word extends Lazy {

        private final Supplier<String> word;

        Word(String name, Supplier<String> word) {
            super(name, Columns.KEYWORD);
            this.word = word;
        }

        @Override
        public BytesRef binaryValue() {
            return ascii(word.get());
        }

        @Override
        public TokenStream tokenStream(Analyzer analyzer, TokenStream reuse) {
            KeyStream stream = reuse instanceof KeyStream used ? used : new KeyStream();
            return stream.of(Keys.single(word.get()));
        }
    }

    private final class Count extends Lazy {

        private final IntSupplier number;

        Count(String name, IntSupplier number) {
            super(name, Columns.NUMBER);
            this.number = number;
        }

        @Override
        public Number numericValue() {
            return (long) number.getAsInt();
        }
    }
}
