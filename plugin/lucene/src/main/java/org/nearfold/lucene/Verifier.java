package org.nearfold.lucene;

import java.io.IOException;

/** Decides whether candidates of a segment match, in ascending order of documents. */
interface Verifier {

    /** Returns whether a document matches. */
    boolean matches(int document) throws IOException;

    /** Returns the similarity of the document that matched last, above 0 and at most 1. */
    float similarity();

    /** Returns how the similarity came about, such as {@code 181 of 190 words in order}. */
    String description();

    /** Lets documents below a similarity pass or not, as they are not competitive. */
    default void raise(double min) {}

    /** Returns the cost of {@link #matches} in simple operations. */
    float cost();
}
