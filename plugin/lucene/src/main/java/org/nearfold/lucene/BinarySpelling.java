package org.nearfold.lucene;

import org.apache.lucene.util.BytesRef;

/**
 * The spelling of binary doc values that both engines use: the number of values, then each after
 * its length, numbers as variable-length integers. A document has one value or, without a sketch,
 * none.
 */
final class BinarySpelling {

    private BinarySpelling() {}

    /** Returns the spelling of one value, or of none. */
    static BytesRef encode(byte[] value) {
        if (value == null) {
            return new BytesRef(new byte[] {0});
        }
        int head = 1 + sizeOf(value.length);
        byte[] bytes = new byte[head + value.length];
        bytes[0] = 1;
        int rest = value.length;
        for (int i = 1; i < head; i++) {
            bytes[i] = (byte) (rest & 0x7F | (i < head - 1 ? 0x80 : 0));
            rest >>>= 7;
        }
        System.arraycopy(value, 0, bytes, head, value.length);
        return new BytesRef(bytes);
    }

    /**
     * Returns the offset of the value in {@code spelled.bytes}, or a negative number if there is
     * none.
     */
    static int start(BytesRef spelled) {
        if (spelled.length == 0 || spelled.bytes[spelled.offset] == 0) {
            return -1;
        }
        int start = spelled.offset + 1;
        while (spelled.bytes[start] < 0) {
            start++;
        }
        return start + 1;
    }

    private static int sizeOf(int number) {
        int size = 1;
        for (int rest = number >>> 7; rest > 0; rest >>>= 7) {
            size++;
        }
        return size;
    }
}
