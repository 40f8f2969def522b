package org.nearfold.lucene;

/** The page that a request asked for, while its window is being folded on the coordinating node. */
public record NearFoldPage(int from, int size, NearFoldOptions options) {

    /** The attribute of a search pipeline's context that holds it. */
    public static final String ATTRIBUTE = "nearfold.page";

    /** The message for a text that could not be read, with {@code {}} for its index and its id. */
    public static final String UNREAD_TEXT =
            "[near_fold] folds several shards by their texts, and could not read [{}][{}];"
                    + " request it in [_source], fold by [slots], or grant the right to read this"
                    + " index by its own name";

    private static final int DEFAULT_SIZE = 10;

    /** Returns the page of a request, whose {@code from} and {@code size} are negative by default. */
    public static NearFoldPage of(int from, int size, NearFoldOptions options) {
        return new NearFoldPage(Math.max(0, from), size < 0 ? DEFAULT_SIZE : size, options);
    }

    /** Returns the paths of {@code _source} that texts of the field are read from. */
    public String[] textPaths() {
        String field = options.field();
        int dot = field.lastIndexOf('.');
        return dot > 0 ? new String[] {field, field.substring(0, dot)} : new String[] {field};
    }
}
