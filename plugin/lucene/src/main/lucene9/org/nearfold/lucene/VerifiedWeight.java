package org.nearfold.lucene;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TwoPhaseIterator;
import org.apache.lucene.search.Weight;

import java.io.IOException;

/**
 * The candidates of another weight that a {@link Verifier} lets through, in two phases. Of Lucene
 * 9.
 */
abstract class VerifiedWeight extends Weight {

    private final Weight candidates;
    private final float boost;

    VerifiedWeight(Query query, Weight candidates, float boost) {
        super(query);
        this.candidates = candidates;
        this.boost = boost;
    }

    /** Returns the verifier of a segment. */
    abstract Verifier verifier(LeafReaderContext segment) throws IOException;

    /** Returns those of the candidates of a segment that have to be verified, or more of them. */
    DocIdSetIterator narrowed(LeafReaderContext segment, DocIdSetIterator documents)
            throws IOException {
        return documents;
    }

    @Override
    public Scorer scorer(LeafReaderContext segment) throws IOException {
        Scorer scorer = candidates.scorer(segment);
        if (scorer == null) {
            return null;
        }
        DocIdSetIterator documents = narrowed(segment, scorer.iterator());
        return new VerifiedScorer(this, documents, verifier(segment), boost);
    }

    @Override
    public Explanation explain(LeafReaderContext segment, int document) throws IOException {
        Scorer scorer = candidates.scorer(segment);
        if (scorer == null || scorer.iterator().advance(document) != document) {
            return Explanation.noMatch("shares too few keys");
        }
        Verifier verifier = verifier(segment);
        boolean isMatch = verifier.matches(document);
        return isMatch
                ? Explanation.match(boost * verifier.similarity(), verifier.description())
                : Explanation.noMatch(verifier.description());
    }

    @Override
    public boolean isCacheable(LeafReaderContext segment) {
        return true;
    }

    private static final class VerifiedScorer extends Scorer {

        private final TwoPhaseIterator phases;
        private final Verifier verifier;
        private final float boost;

        VerifiedScorer(
                Weight weight, DocIdSetIterator candidates, Verifier verifier, float boost) {
            super(weight);
            this.verifier = verifier;
            this.boost = boost;
            phases =
                    new TwoPhaseIterator(candidates) {
                        @Override
                        public boolean matches() throws IOException {
                            return verifier.matches(approximation.docID());
                        }

                        @Override
                        public float matchCost() {
                            return verifier.cost();
                        }
                    };
        }

        @Override
        public int docID() {
            return phases.approximation().docID();
        }

        @Override
        public DocIdSetIterator iterator() {
            return TwoPhaseIterator.asDocIdSetIterator(phases);
        }

        @Override
        public TwoPhaseIterator twoPhaseIterator() {
            return phases;
        }

        @Override
        public void setMinCompetitiveScore(float min) {
            verifier.raise(min / (double) boost);
        }

        @Override
        public float getMaxScore(int upTo) {
            return boost;
        }

        @Override
        public float score() {
            return boost * verifier.similarity();
        }
    }
}
