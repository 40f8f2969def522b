package org.nearfold.opensearch;

import org.nearfold.lucene.NearFoldOptions;

/** The page that a request asked for, while its window is being folded on the coordinating node. */
record NearFoldPage(int from, int size, NearFoldOptions options) {

    /** The attribute of a pipeline's context that holds it. */
    static final String ATTRIBUTE = "nearfold.page";
}
