package org.nearfold.lucene;

import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.BytesRef;
import org.nearfold.core.Recipe;
import org.nearfold.core.Status;

import java.io.IOException;

/**
 * Numbers of the documents of a segment, equal ones for copies of one text, to be read in ascending
 * order of documents.
 */
final class CopyNumbers {

    /** The number of a document of which it is not known. */
    static final long NONE = -1;

    private final SortedSetDocValues digests;
    private final SortedSetDocValues statuses;
    private final long complete;

    /** Opens the columns of a field; no document has a number where digests are not of words. */
    CopyNumbers(LeafReader segment, String field, Recipe recipe) throws IOException {
        digests = DocValues.getSortedSet(segment, Columns.of(field, Columns.EXACT));
        statuses = DocValues.getSortedSet(segment, Columns.of(field, Columns.STATUS));
        boolean isOfWords = recipe.features() == Recipe.Features.WORD_PAIRS;
        BytesRef label = new BytesRef(Status.COMPLETE.label());
        complete = isOfWords ? statuses.lookupTerm(label) : NONE;
    }

    /** Returns the number of a document; {@link #NONE} for a truncated text. */
    long of(int document) throws IOException {
        boolean isComplete =
                complete >= 0
                        && statuses.advanceExact(document)
                        && statuses.nextOrd() == complete;
        return isComplete && digests.advanceExact(document) ? digests.nextOrd() : NONE;
    }
}
