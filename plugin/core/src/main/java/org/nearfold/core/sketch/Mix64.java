package org.nearfold.core.sketch;

/** Mixing of 64 bits: variant 13 of the MurmurHash3 finaliser (Stafford), as in SplitMix64. */
final class Mix64 {

    /** The golden ratio as a fraction of 2<sup>64</sup>. */
    static final long GAMMA = 0x9E3779B97F4A7C15L;

    private Mix64() {}

    /**
     * Returns a bijection of {@code value} in which each input bit flips each output bit with
     * chance 1/2.
     */
    static long mix(long value) {
        long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
