package org.nearfold.core.sketch;

/**
 * SipHash-2-4 of messages of 16 bytes under a secret key (Aumasson &amp; Bernstein, Indocrypt
 * 2012).
 *
 * <p>Without the key nobody can craft texts that a sketch treats in a chosen way. Immutable.
 */
final class SipHash {

    private static final long SIXTEEN_BYTES = 16L << 56;

    private final long low;
    private final long high;

    /** Takes the key as two little-endian words. */
    SipHash(long low, long high) {
        this.low = low;
        this.high = high;
    }

    /** Returns the hash of the message of two little-endian words. */
    long hash(long first, long second) {
        long a = 0x736F6D6570736575L ^ low;
        long b = 0x646F72616E646F6DL ^ high;
        long c = 0x6C7967656E657261L ^ low;
        long d = 0x7465646279746573L ^ high;
        long word = first;
        for (int round = 0; round < 10; round++) {
            // two rounds for each of three words, then four
            if (round < 6 && (round & 1) == 0) {
                word = round == 0 ? first : round == 2 ? second : SIXTEEN_BYTES;
                d ^= word;
            }
            if (round == 6) {
                c ^= 0xFF;
            }
            a += b;
            c += d;
            b = Long.rotateLeft(b, 13) ^ a;
            d = Long.rotateLeft(d, 16) ^ c;
            a = Long.rotateLeft(a, 32);
            a += d;
            c += b;
            d = Long.rotateLeft(d, 21) ^ a;
            b = Long.rotateLeft(b, 17) ^ c;
            c = Long.rotateLeft(c, 32);
            if (round < 6 && (round & 1) == 1) {
                a ^= word;
            }
        }
        return a ^ b ^ c ^ d;
    }
}
