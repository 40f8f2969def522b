package org.nearfold.core.sketch;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Keys in ASCII, all of the same length: exact-match terms that are made from sketches. Immutable.
 */
public final class Keys {

    /** No keys. */
    public static final Keys NONE = new Keys(new byte[0], 1);

    private static final byte[] DIGITS =
            "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.US_ASCII);
    private static final int LONG_KEY = 18;

    private final byte[] bytes;
    private final int length;

    Keys(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
    }

    /** Returns one key, of ASCII. */
    public static Keys single(String key) {
        return new Keys(key.getBytes(StandardCharsets.US_ASCII), key.length());
    }

    /** Returns the number of keys. */
    public int size() {
        return bytes.length / length;
    }

    /** Returns the length of each key, in bytes. */
    public int length() {
        return length;
    }

    /** Returns the keys one after the other; the array must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns the keys as strings, in order. */
    public List<String> strings() {
        List<String> strings = new ArrayList<>(size());
        for (int start = 0; start < bytes.length; start += length) {
            strings.add(new String(bytes, start, length, StandardCharsets.US_ASCII));
        }
        return strings;
    }

    /**
     * Returns the keys of bands of {@code rows} consecutive slots.
     *
     * @param digits base-32 digits of a key; 0 for two hexadecimal digits of the band and 16 of its
     *     hash
     */
    static Keys ofBands(long[] slots, int bands, int rows, int digits) {
        int length = digits == 0 ? LONG_KEY : digits;
        byte[] bytes = new byte[bands * length];
        for (int band = 0; band < bands; band++) {
            long hash = 0;
            for (int row = 0; row < rows; row++) {
                hash = Mix64.mix(hash ^ slots[band * rows + row]);
            }
            int start = band * length;
            if (digits == 0) {
                write(band, 4, bytes, start, 2);
                write(hash, 4, bytes, start + 2, 16);
            } else {
                write(Mix64.mix(hash ^ band), 5, bytes, start, digits);
            }
        }
        return new Keys(bytes, length);
    }

    /**
     * Returns the keys of masks of a sketch of 64 bits: two hexadecimal digits of the mask's
     * number, then the bits that it selects.
     *
     * @param masks each of the same number of bits
     */
    static Keys ofMasks(long sketch, long[] masks) {
        if (masks.length == 0) {
            return NONE;
        }
        int digits = (Long.bitCount(masks[0]) + 3) / 4;
        byte[] bytes = new byte[masks.length * (digits + 2)];
        for (int number = 0; number < masks.length; number++) {
            int start = number * (digits + 2);
            write(number, 4, bytes, start, 2);
            write(extract(sketch, masks[number]), 4, bytes, start + 2, digits);
        }
        return new Keys(bytes, digits + 2);
    }

    /**
     * Writes the last {@code digits} digits of a value, of so many bits each, most significant
     * first.
     */
    private static void write(long value, int bits, byte[] bytes, int start, int digits) {
        long rest = value;
        for (int i = start + digits - 1; i >= start; i--) {
            bytes[i] = DIGITS[(int) rest & (1 << bits) - 1];
            rest >>>= bits;
        }
    }

    /**
     * Returns the bits of {@code sketch} that {@code mask} selects, without the gaps between them.
     */
    private static long extract(long sketch, long mask) {
        long value = 0;
        int shift = 0;
        for (long rest = mask; rest != 0; rest &= rest - 1) {
            value |= (sketch >>> Long.numberOfTrailingZeros(rest) & 1) << shift++;
        }
        return value;
    }
}
