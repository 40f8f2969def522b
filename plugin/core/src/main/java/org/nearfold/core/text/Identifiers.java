package org.nearfold.core.text;

import java.util.List;
import java.util.regex.Pattern;

/**
 * URLs, e-mail addresses, DOI and other identifiers, UUIDs and long digests, which tokens leave
 * out.
 *
 * <p>The patterns are ASCII only: a URL ends at the first character that is not printable ASCII.
 * Every repetition is possessive where nothing follows that could take a character back, so that
 * none needs a stack.
 */
final class Identifiers {

    private static final String HEX = "[0-9A-Fa-f]";
    private static final String FREE = "(?<![A-Za-z0-9])";
    private static final List<Pattern> PATTERNS =
            List.of(
                    Pattern.compile("(?<![A-Za-z0-9+.-])[A-Za-z0-9+.-]++://[!-~]++"),
                    Pattern.compile(FREE + "[Ww]{3}\\.[!-~]++"),
                    Pattern.compile(
                            FREE
                                    + "(?:mailto|urn|doi|arxiv|isbn|issn|pmid|pmcid|hdl|ark|orcid):[!-~]++",
                            Pattern.CASE_INSENSITIVE),
                    Pattern.compile(
                            "(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]++@[A-Za-z0-9-]++(?:\\.[A-Za-z0-9-]++)++"),
                    Pattern.compile(FREE + "10\\.[0-9]{4,9}/[!-~]++"),
                    Pattern.compile(
                            FREE
                                    + HEX
                                    + "{8}-(?:"
                                    + HEX
                                    + "{4}-){3}"
                                    + HEX
                                    + "{12}(?![A-Za-z0-9])"),
                    Pattern.compile(FREE + HEX + "{32,}+(?![A-Za-z0-9])"));

    private Identifiers() {}

    /** Returns a text with one space for each identifier. */
    static String remove(String text) {
        String rest = text;
        for (Pattern pattern : PATTERNS) {
            rest = pattern.matcher(rest).replaceAll(" ");
        }
        return rest;
    }
}
