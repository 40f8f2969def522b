package org.nearfold.lucene;

import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.BytesTermAttribute;
import org.apache.lucene.util.BytesRef;
import org.nearfold.core.sketch.Keys;

/** Emits keys as terms, without copying them. */
final class KeyStream extends TokenStream {

    private final BytesTermAttribute term = addAttribute(BytesTermAttribute.class);
    private final BytesRef key = new BytesRef();
    private Keys keys = Keys.NONE;
    private int next;

    /** Returns the stream of these keys, to be read once. */
    KeyStream of(Keys newKeys) {
        keys = newKeys;
        return this;
    }

    @Override
    public void reset() {
        next = 0;
        key.bytes = keys.bytes();
        key.length = keys.length();
    }

    @Override
    public boolean incrementToken() {
        if (next == keys.size()) {
            return false;
        }
        clearAttributes();
        key.offset = next++ * keys.length();
        term.setBytesRef(key);
        return true;
    }
}
