package org.nearfold.elasticsearch;

import org.elasticsearch.common.ParsingException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;

import java.io.IOException;
import java.util.Objects;

/** The document that others are to be similar to, and once it was read its text. */
final class LikeDocument implements Writeable, ToXContentObject {

    private final String index;
    private final String id;
    private final String routing;
    private final String text;
    private final boolean isRequested;

    /** On the coordinating node alone, once the document was read. */
    private volatile LikeDocument found;

    LikeDocument(String index, String id, String routing, String text) {
        this(index, id, routing, text, false);
    }

    private LikeDocument(
            String index, String id, String routing, String text, boolean isRequested) {
        this.index = index;
        this.id = id;
        this.routing = routing;
        this.text = text;
        this.isRequested = isRequested;
    }

    LikeDocument(StreamInput in) throws IOException {
        this(in.readString(), in.readString(), in.readOptionalString(), null, false);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        out.writeString(index);
        out.writeString(id);
        out.writeOptionalString(routing);
    }

    static LikeDocument fromXContent(XContentParser parser) throws IOException {
        String index = null;
        String id = null;
        String routing = null;
        String name = null;
        XContentParser.Token token = parser.nextToken();
        for (; token != XContentParser.Token.END_OBJECT; token = parser.nextToken()) {
            if (token == XContentParser.Token.FIELD_NAME) {
                name = parser.currentName();
                continue;
            }
            switch (name) {
                case "_index" -> index = parser.text();
                case "_id" -> id = parser.text();
                case "routing" -> routing = parser.text();
                default ->
                        throw new ParsingException(
                                parser.getTokenLocation(),
                                "[like] does not support [" + name + "]");
            }
        }
        if (index == null || id == null) {
            throw new ParsingException(
                    parser.getTokenLocation(), "[like] needs [_index] and [_id] of a document");
        }
        return new LikeDocument(index, id, routing, null);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        builder.startObject().field("_index", index).field("_id", id);
        if (routing != null) {
            builder.field("routing", routing);
        }
        return builder.endObject();
    }

    String index() {
        return index;
    }

    String id() {
        return id;
    }

    String routing() {
        return routing;
    }

    String text() {
        return text;
    }

    boolean isRequested() {
        return isRequested;
    }

    LikeDocument found() {
        return found;
    }

    /** Returns the same document, marked as being read. */
    LikeDocument request() {
        return new LikeDocument(index, id, routing, null, true);
    }

    void setFound(LikeDocument document) {
        found = document;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LikeDocument like
                && index.equals(like.index)
                && id.equals(like.id)
                && isRequested == like.isRequested
                && Objects.equals(routing, like.routing);
    }

    @Override
    public int hashCode() {
        return Objects.hash(index, id, routing, isRequested);
    }
}
