package org.nearfold.core.text;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/**
 * URLs, e-mail addresses, DOI and other identifiers, UUIDs and long digests, which tokens leave
 * out.
 *
 * <p>Every repetition is possessive where nothing follows that could take a character back, so that
 * none needs a stack.
 */
final class Identifiers {

    private static final String HEX = "[0-9A-Fa-f]";
    private static final String FREE = "(?<![A-Za-z0-9])";
    private static final List<Pattern> ASCII = patterns("[!-~]", "A-Za-z0-9");

    private Identifiers() {}

    /** The same with letters of any script. */
    private static final class International {

        private static final List<Pattern> PATTERNS = patterns();

        private static List<Pattern> patterns() {
            int word = Unicode13.WORD | Unicode13.SPACING_MARK;
            IntPredicate isWord = code -> (Unicode13.categories(code) & word) != 0;
            String spaced = ranges(isWord.and(code -> Unicode13.isUnspaced(code) == false));
            String unspaced = ranges(isWord.and(Unicode13::isUnspaced));
            // A sentence of a script without spaces may go on right behind a URL.
            String tail =
                    "(?:[!-~" + spaced + "]|(?<=[/=#?&%._~" + unspaced + "-])[" + unspaced + "])";
            return Identifiers.patterns(tail, "A-Za-z0-9" + spaced);
        }

        private static String ranges(IntPredicate isMember) {
            StringBuilder ranges = new StringBuilder();
            for (int code = 0; code <= Character.MAX_CODE_POINT; code++) {
                if (isMember.test(code)) {
                    int first = code;
                    while (code < Character.MAX_CODE_POINT && isMember.test(code + 1)) {
                        code++;
                    }
                    ranges.append(escape(first)).append('-').append(escape(code));
                }
            }
            return ranges.toString();
        }

        private static String escape(int code) {
            return "\\x{" + Integer.toHexString(code) + "}";
        }
    }

    /** Returns a text with one space for each identifier, in ASCII or with letters of any script. */
    static String remove(String text, boolean isInternational) {
        boolean isWider = isInternational && text.chars().anyMatch(unit -> unit > 127);
        String rest = text;
        for (Pattern pattern : isWider ? International.PATTERNS : ASCII) {
            rest = pattern.matcher(rest).replaceAll(" ");
        }
        return rest;
    }

    /**
     * Returns the patterns in the order in which they go.
     *
     * @param tail a character after the beginning of an identifier
     * @param name the letters and digits of an e-mail address, inside brackets
     */
    private static List<Pattern> patterns(String tail, String name) {
        String names = "(?i:mailto|urn|doi|arxiv|isbn|issn|pmid|pmcid|hdl|ark|orcid)";
        String local = "[" + name + "._%+-]";
        String domain = "[" + name + "-]++";
        return List.of(
                Pattern.compile("(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]++://" + tail + "++"),
                Pattern.compile(FREE + "[Ww]{3}\\." + tail + "++"),
                Pattern.compile(FREE + names + ":" + tail + "++"),
                Pattern.compile(
                        "(?<!" + local + ")" + local + "++@" + domain + "(?:\\." + domain + ")++"),
                Pattern.compile(FREE + "10\\.[0-9]{4,9}/" + tail + "++"),
                Pattern.compile(
                        FREE + HEX + "{8}-(?:" + HEX + "{4}-){3}" + HEX + "{12}(?![A-Za-z0-9])"),
                Pattern.compile(FREE + HEX + "{32,}+(?![A-Za-z0-9])"));
    }
}
