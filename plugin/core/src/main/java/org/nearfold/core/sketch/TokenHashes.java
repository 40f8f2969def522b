package org.nearfold.core.sketch;

import org.nearfold.core.text.Form;
import org.nearfold.core.text.NormalText;
import org.nearfold.core.text.Normaliser;
import org.nearfold.core.text.Tokens;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The hashes of the tokens of the {@code simhash-doc} scheme: every repeat in versions 1 to 3 and
 * 5, distinct tokens in version 4. Not safe for use by several threads.
 */
final class TokenHashes {

    private final Tokens tokens;
    private final boolean isDistinct;
    private final NormalText text = new NormalText();
    private final Longs hashes = new Longs();

    TokenHashes(String version) {
        tokens = Tokens.version(version);
        isDistinct = version.equals("v4");
    }

    /** Returns the hashes of a text's tokens; the next call replaces them. */
    Longs read(String original, Normaliser normaliser) {
        Form form = tokens.form();
        normaliser.normalise(original, form, text);
        List<String> every = tokens.of(text);
        Collection<String> counted = isDistinct ? new LinkedHashSet<>(every) : every;
        hashes.clear(counted.size());
        for (String token : counted) {
            hashes.add(Jenkins.hash(token.getBytes(StandardCharsets.UTF_8)));
        }
        return hashes;
    }

    void release(int most) {
        text.release(most);
        hashes.release(most);
    }
}
