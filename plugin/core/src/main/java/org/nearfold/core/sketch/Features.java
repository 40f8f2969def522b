package org.nearfold.core.sketch;

import org.nearfold.core.text.NormalText;

/** Makes the feature hashes of one text after the other, in the same memory. */
interface Features {

    /**
     * Returns the hashes of the distinct features of a text, in any order; the next call replaces
     * them.
     *
     * @param key under which features are hashed; null for none
     */
    Longs read(NormalText text, SipHash key);

    /** Frees the memory when there is room for more than {@code most} features. */
    void release(int most);
}
