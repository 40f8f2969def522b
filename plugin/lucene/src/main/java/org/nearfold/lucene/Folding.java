package org.nearfold.lucene;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which hits of a shard were folded under which others. Documents are numbers of the shard's
 * reader.
 *
 * <p>Not changed once it is made.
 */
public final class Folding {

    /** A folded hit, and its similarity to the one it is folded under. */
    public record Member(int document, float similarity) {}

    private final Map<Integer, List<Member>> members = new HashMap<>();
    private final Map<Integer, Member> representatives = new HashMap<>();

    private final boolean isPartial;

    /** Takes whether the request searches other shards, too, whose hits are not folded here. */
    Folding(boolean isPartial) {
        this.isPartial = isPartial;
    }

    void addRepresentative(int document) {
        members.put(document, new ArrayList<>());
    }

    void fold(int document, int representative, float similarity) {
        members.get(representative).add(new Member(document, similarity));
        representatives.put(document, new Member(representative, similarity));
    }

    /**
     * Returns the hits folded under a document in order of rank; null if it is no representative of
     * the window.
     */
    public List<Member> members(int document) {
        return members.get(document);
    }

    /** Returns what a document is folded under; null if it is not folded. */
    public Member representative(int document) {
        return representatives.get(document);
    }

    /** Returns the number of hits that are not folded. */
    public int groups() {
        return members.size();
    }

    /**
     * Returns the field {@code near_fold} of a hit: how many hits are folded under it and the ids
     * of the first, or what it is folded under; null if it is outside the window. Its {@code scope}
     * is {@code shard} where the request searches other shards, too.
     */
    public Map<String, Object> report(int document, int maxMembers, DocumentIds ids)
            throws IOException {
        Map<String, Object> report = new LinkedHashMap<>();
        Member representative = representatives.get(document);
        List<Member> folded = members.get(document);
        if (representative != null) {
            report.put("folded_under", ids.read(representative.document()));
            report.put("similarity", representative.similarity());
        } else if (folded != null) {
            List<Map<String, Object>> listed = new ArrayList<>();
            for (Member member : folded.subList(0, Math.min(maxMembers, folded.size()))) {
                String id = ids.read(member.document());
                listed.add(Map.of("_id", id, "similarity", member.similarity()));
            }
            report.put("folded", folded.size());
            report.put("hits", listed);
        } else {
            return null;
        }
        if (isPartial) {
            report.put("scope", "shard");
        }
        return report;
    }
}
