package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BytesRef;
import org.nearfold.core.Fingerprint;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;
import org.nearfold.core.compare.SlotBounds;
import org.nearfold.core.compare.Slots;
import org.nearfold.core.compare.WordReader;
import org.nearfold.core.compare.Words;
import org.nearfold.core.sketch.Keys;

import java.io.IOException;
import java.util.Objects;

/**
 * Matches the documents whose text is similar to a given one; the score is the similarity.
 *
 * <p>Shared keys are the approximation, and the measure is the second phase. A text without keys
 * matches copies only. For {@link Measure#LCS} the texts of at most {@link #MAX_TEXTS} candidates
 * of a shard are read.
 */
public final class NearDuplicateQuery extends Query {

    /**
     * The most texts of a shard that are compared with one: as many candidates as nearfold itself
     * takes.
     */
    static final int MAX_TEXTS = 1_000;

    private final String field;
    private final Recipe recipe;
    private final Words words;
    private final Fingerprint like;
    private final Measure measure;
    private final double min;
    private final TextReader texts;
    private final int maxTexts;
    private final Query candidates;

    private NearDuplicateQuery(
            String field,
            Recipe recipe,
            Words words,
            Fingerprint like,
            Measure measure,
            double min,
            TextReader texts,
            int maxTexts) {
        this.field = field;
        this.recipe = recipe;
        this.words = words;
        this.like = like;
        this.measure = measure;
        this.min = min;
        this.texts = texts;
        this.maxTexts = maxTexts;
        candidates =
                measure == Measure.HAMMING
                        ? keys(Columns.of(field, Columns.SIMHASH), like.blocks(), 1)
                        : keys(field, like.bands(), recipe.sharedBands());
    }

    /**
     * Returns the query of the documents that are similar to a text.
     *
     * @param field of type {@code near_duplicate}
     * @param min the minimum similarity, above 0 and at most 1
     * @param texts reads the texts that {@link Measure#LCS} compares
     * @throws IllegalArgumentException if the recipe has no sketch for the measure
     */
    public static Query of(
            String field,
            Fingerprinters fingerprinters,
            String text,
            Measure measure,
            double min,
            TextReader texts) {
        return of(field, fingerprinters, text, measure, min, texts, MAX_TEXTS);
    }

    static Query of(
            String field,
            Fingerprinters fingerprinters,
            String text,
            Measure measure,
            double min,
            TextReader texts,
            int maxTexts) {
        Recipe recipe = fingerprinters.recipe();
        measure.check(recipe, field);
        Fingerprint like = fingerprinters.fingerprint(text);
        if (like.status() == Status.EMPTY) {
            return new MatchNoDocsQuery("the text is empty");
        }
        if (like.isSigned() == false) {
            return new ConstantScoreQuery(
                    new TermQuery(new Term(Columns.of(field, Columns.EXACT), like.exact())));
        }
        Words words = measure == Measure.LCS ? new WordReader().read(text) : null;
        return new NearDuplicateQuery(field, recipe, words, like, measure, min, texts, maxTexts);
    }

    private static Query keys(String field, Keys keys, int shared) {
        BooleanQuery.Builder builder = new BooleanQuery.Builder();
        for (int i = 0; i < keys.size(); i++) {
            BytesRef key = new BytesRef(keys.bytes(), i * keys.length(), keys.length());
            Query one = new ConstantScoreQuery(new TermQuery(new Term(field, key)));
            builder.add(one, BooleanClause.Occur.SHOULD);
        }
        return builder.setMinimumNumberShouldMatch(shared).build();
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost)
            throws IOException {
        Weight weight =
                searcher.createWeight(
                        searcher.rewrite(candidates), ScoreMode.COMPLETE_NO_SCORES, 1);
        SlotCutoff cutoff =
                new SlotCutoff(
                        weight,
                        searcher.getIndexReader().leaves(),
                        field,
                        recipe,
                        like.minhash(),
                        SlotBounds.fewestEqual(recipe, min),
                        maxTexts);
        return new VerifiedWeight(this, weight, boost) {
            @Override
            Verifier verifier(LeafReaderContext segment) throws IOException {
                return switch (measure) {
                    case SLOTS ->
                            new Verifiers.BySlots(
                                    segment.reader(),
                                    field,
                                    recipe,
                                    like.minhash(),
                                    Slots.fewestEqual(recipe, min));
                    case LCS ->
                            new Verifiers.ByWords(
                                    segment,
                                    field,
                                    recipe,
                                    like,
                                    words,
                                    min,
                                    cutoff.fewestEqual(),
                                    texts);
                    case HAMMING ->
                            new Verifiers.ByBits(
                                    segment.reader(),
                                    Columns.of(field, Columns.SIMHASH),
                                    like.simhash(),
                                    min);
                };
            }

            @Override
            DocIdSetIterator narrowed(LeafReaderContext segment, DocIdSetIterator documents)
                    throws IOException {
                return measure == Measure.LCS ? cutoff.narrow(segment, documents) : documents;
            }

            /** Returns false where a match depends on other segments. */
            @Override
            public boolean isCacheable(LeafReaderContext segment) {
                return measure != Measure.LCS;
            }
        };
    }

    @Override
    public void visit(QueryVisitor visitor) {
        if (visitor.acceptField(field)) {
            visitor.visitLeaf(this);
        }
    }

    @Override
    public String toString(String defaultField) {
        return "near_duplicate("
                + field
                + " "
                + measure.label()
                + ">="
                + min
                + " "
                + like.exact()
                + ")";
    }

    @Override
    public boolean equals(Object other) {
        return sameClassAs(other) && equalsTo((NearDuplicateQuery) other);
    }

    private boolean equalsTo(NearDuplicateQuery other) {
        return field.equals(other.field)
                && recipe.equals(other.recipe)
                && measure == other.measure
                && min == other.min
                && like.hexDigest().equals(other.like.hexDigest());
    }

    @Override
    public int hashCode() {
        return Objects.hash(classHash(), field, recipe, measure, min, like.hexDigest());
    }
}
