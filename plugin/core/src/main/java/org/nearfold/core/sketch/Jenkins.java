package org.nearfold.core.sketch;

/**
 * The 64-bit hash of lookup3.c (Bob Jenkins, May 2006, public domain), {@code hashlittle2} with
 * both seeds zero.
 */
final class Jenkins {

    private static final int START = 0xDEADBEEF;
    private static final int BLOCK = 12;

    private Jenkins() {}

    /** Returns {@code *pc + (*pb << 32)} of a key. */
    static long hash(byte[] key) {
        int a = START + key.length;
        int b = a;
        int c = a;
        int start = 0;
        while (key.length - start > BLOCK) {
            a += word(key, start);
            b += word(key, start + 4);
            c += word(key, start + 8);
            a = a - c ^ Integer.rotateLeft(c, 4);
            c += b;
            b = b - a ^ Integer.rotateLeft(a, 6);
            a += c;
            c = c - b ^ Integer.rotateLeft(b, 8);
            b += a;
            a = a - c ^ Integer.rotateLeft(c, 16);
            c += b;
            b = b - a ^ Integer.rotateLeft(a, 19);
            a += c;
            c = c - b ^ Integer.rotateLeft(b, 4);
            b += a;
            start += BLOCK;
        }
        if (start == key.length) {
            return join(c, b);
        }
        a += word(key, start);
        b += word(key, start + 4);
        c += word(key, start + 8);
        c = (c ^ b) - Integer.rotateLeft(b, 14);
        a = (a ^ c) - Integer.rotateLeft(c, 11);
        b = (b ^ a) - Integer.rotateLeft(a, 25);
        c = (c ^ b) - Integer.rotateLeft(b, 16);
        a = (a ^ c) - Integer.rotateLeft(c, 4);
        b = (b ^ a) - Integer.rotateLeft(a, 14);
        c = (c ^ b) - Integer.rotateLeft(b, 24);
        return join(c, b);
    }

    private static long join(int low, int high) {
        return (long) high << 32 | low & 0xFFFFFFFFL;
    }

    /** Returns four bytes in little-endian order; those beyond the end are zero. */
    private static int word(byte[] key, int start) {
        int word = 0;
        for (int i = Math.min(start + 4, key.length) - 1; i >= start; i--) {
            word = word << 8 | key[i] & 0xFF;
        }
        return word;
    }
}
