package org.nearfold.core.sketch;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret key of a recipe: its public fingerprint, and the key of the feature hash. Immutable.
 */
public final class SecretKey {

    /**
     * The fewest characters of a secret: one that is shorter could be guessed from its fingerprint.
     */
    public static final int MIN_LENGTH = 32;

    private static final String FINGERPRINT = "nearfold recipe key fingerprint v1";
    private static final String FEATURES = "nearfold recipe key sip24 v1";

    private final String fingerprint;
    private final SipHash hash;

    /**
     * Derives the keys from a secret.
     *
     * @throws IllegalArgumentException if the secret has fewer than {@link #MIN_LENGTH} characters
     */
    public SecretKey(String secret) {
        if (secret.codePointCount(0, secret.length()) < MIN_LENGTH) {
            throw new IllegalArgumentException(
                    "the secret key of a recipe has "
                            + MIN_LENGTH
                            + " characters or more; make one: openssl rand -hex 32");
        }
        fingerprint = HexFormat.of().formatHex(derive(secret, FINGERPRINT), 0, 8);
        byte[] key = derive(secret, FEATURES);
        hash = new SipHash(littleEndian(key, 0), littleEndian(key, 8));
    }

    /** Returns 16 hexadecimal digits that identify the key without revealing it. */
    public String fingerprint() {
        return fingerprint;
    }

    SipHash hash() {
        return hash;
    }

    private static byte[] derive(String secret, String purpose) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return mac.doFinal(purpose.getBytes(StandardCharsets.US_ASCII));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("this JVM has no HMAC-SHA256", error);
        }
    }

    private static long littleEndian(byte[] bytes, int start) {
        long word = 0;
        for (int i = 7; i >= 0; i--) {
            word = word << 8 | bytes[start + i] & 0xFF;
        }
        return word;
    }
}
