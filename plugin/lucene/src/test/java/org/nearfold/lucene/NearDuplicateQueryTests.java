package org.nearfold.lucene;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;

import org.apache.lucene.document.Document;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexableField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.BytesRef;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.nearfold.core.Recipe;
import org.nearfold.core.compare.WordReader;
import org.nearfold.core.compare.Words;
import org.nearfold.core.compare.WordsInOrder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public class NearDuplicateQueryTests extends RandomizedTest {

    private static final String FIELD = "near";

    private final Fingerprinters fingerprinters = new Fingerprinters(Recipe.named("default_v2"));
    private final List<String> texts = new ArrayList<>();
    private Directory directory;
    private DirectoryReader reader;
    private IndexSearcher searcher;
    private int textsRead;

    private final DocumentCache<Words> cache = DocumentCache.ofWords(10_000_000);

    private final TextReader cachedTexts =
            new TextReader() {
                @Override
                public String read(LeafReaderContext segment, int document) throws IOException {
                    textsRead++;
                    return NearDuplicateQueryTests.this.read(segment.docBase + document);
                }

                @Override
                public DocumentCache<Words> cache() {
                    return cache;
                }
            };

    @Before
    public void indexTexts() throws IOException {
        directory = new ByteBuffersDirectory();
        IndexWriterConfig config =
                new IndexWriterConfig(null).setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            String[] words =
                    "ferry quay evening dogs travel free deck tickets board bell".split(" ");
            for (int i = 0; i < 200; i++) {
                texts.add(i % 4 == 0 ? randomText(words, 60) : edited(texts.get(i - i % 4)));
                TextFingerprint fingerprint = new TextFingerprint(fingerprinters, 10_000);
                fingerprint.add(texts.get(i));
                Document document = new Document();
                for (IndexableField field : fingerprint.fields(FIELD)) {
                    document.add(field);
                }
                document.add(new StoredField("_id", new BytesRef("id " + i)));
                document.add(new StoredField("text", texts.get(i)));
                writer.addDocument(document);
                if (randomInt(20) == 0) {
                    writer.flush();
                }
            }
        }
        reader = DirectoryReader.open(directory);
        searcher = new IndexSearcher(reader);
    }

    @After
    public void close() throws IOException {
        reader.close();
        directory.close();
    }

    private static String randomText(String[] words, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(randomFrom(words)).append(randomInt(9)).append(' ');
        }
        return text.toString();
    }

    private static String edited(String text) {
        String[] words = text.split(" ");
        for (int i = randomInt(8); i > 0; i--) {
            words[randomInt(words.length - 1)] = "other";
        }
        return String.join(" ", words);
    }

    private String read(int document) throws IOException {
        return reader.storedFields().document(document).get("text");
    }

    private Query query(String text, Measure measure, double min) {
        return NearDuplicateQuery.of(
                FIELD,
                fingerprinters,
                text,
                measure,
                min,
                cachedTexts);
    }

    private Map<Integer, Float> search(Query query) throws IOException {
        Map<Integer, Float> found = new TreeMap<>();
        for (ScoreDoc hit : searcher.search(query, texts.size()).scoreDocs) {
            found.put(hit.doc, hit.score);
        }
        return found;
    }

    /** What is found is right, and hardly any similar text is missed. */
    @Test
    public void testWordsInOrder() throws IOException {
        WordsInOrder comparison = new WordsInOrder();
        WordReader reader = new WordReader();
        int expected = 0;
        int missed = 0;
        for (int like = 0; like < texts.size(); like += 4) {
            Map<Integer, Float> found = search(query(texts.get(like), Measure.LCS, 0.85));
            Words words = reader.read(texts.get(like));
            for (int other = 0; other < texts.size(); other++) {
                double similarity =
                        comparison.similarity(words, reader.read(texts.get(other)), 0.85);
                if (found.containsKey(other)) {
                    assertEquals(similarity, found.get(other), 1e-6);
                } else if (similarity >= 0.85) {
                    missed++;
                }
                expected += similarity >= 0.85 ? 1 : 0;
            }
        }
        assertTrue(expected > 100);
        assertTrue(missed + " of " + expected, missed <= expected / 50);
    }

    @Test
    public void testWordsAreKept() throws IOException {
        Query query = query(texts.get(0), Measure.LCS, 0.5);
        Map<Integer, Float> found = search(query);
        assertTrue(textsRead > 0);
        textsRead = 0;
        assertEquals(found, search(query));
        assertEquals(0, textsRead);
    }

    @Test
    public void testTextsOfOtherLengthsAreNotRead() throws IOException {
        String longer = texts.get(0) + randomText(new String[] {"cider"}, 30);
        Query slots = query(longer, Measure.SLOTS, 0.5);
        assertFalse(search(slots).isEmpty());
        textsRead = 0;
        Query query = query(longer, Measure.LCS, 0.8);
        assertTrue(search(query).isEmpty());
        assertEquals(0, textsRead);
        String reason = searcher.explain(query, 0).getDescription();
        assertEquals("too few of 90 words in order", reason);
    }

    @Test
    public void testCacheHasABound() {
        DocumentCache<Words> small = DocumentCache.ofWords(20_000);
        Words words = new WordReader().read("word ".repeat(1_000));
        Object segment = new Object();
        int kept = 0;
        for (int document = 0; document < 1_000; document++) {
            small.put(segment, FIELD, document, words);
            Words found = small.get(segment, FIELD, document);
            assertTrue(found == null || found == words);
            kept += found == null ? 0 : 1;
            assertNull(small.get(segment, "other", document));
            assertTrue(small.bytes() <= 20_000);
        }
        assertTrue(kept > 500);
    }

    @Test
    public void testIdsAreDecompressedOnce() throws IOException {
        int[] decoded = {0};
        for (int round = 0; round < 2; round++) {
            DocumentIds ids =
                    new DocumentIds(
                            reader,
                            id -> {
                                decoded[0]++;
                                return new String(id, StandardCharsets.UTF_8);
                            });
            for (int document = 199; document >= 0; document -= 2) {
                assertEquals("id " + document, ids.read(document));
            }
        }
        assertTrue(decoded[0] + " of 200", decoded[0] < 120);
    }

    /** A reader of a security plugin may hide a text that others may read. */
    @Test
    public void testReadersOfOthersHaveNoKey() {
        LeafReader segment = reader.leaves().get(0).reader();
        assertNotNull(cache.key(segment));
        LeafReader hiding =
                new FilterLeafReader(segment) {
                    @Override
                    public CacheHelper getCoreCacheHelper() {
                        return in.getCoreCacheHelper();
                    }

                    @Override
                    public CacheHelper getReaderCacheHelper() {
                        return in.getReaderCacheHelper();
                    }
                };
        assertNull(cache.key(hiding));
    }

    @Test
    public void testSlotsOfTheTextItself() throws IOException {
        assertEquals(1.0, search(query(texts.get(0), Measure.SLOTS, 1)).get(0), 0);
    }

    @Test
    public void testExplanationHasTheScore() throws IOException {
        for (Measure measure : new Measure[] {Measure.LCS, Measure.SLOTS}) {
            Query query = query(texts.get(0), measure, 0.7);
            for (Map.Entry<Integer, Float> hit : search(query).entrySet()) {
                assertEquals(
                        hit.getValue(),
                        searcher.explain(query, hit.getKey()).getValue().floatValue(),
                        0);
            }
            assertFalse(
                    searcher.explain(query(randomText(new String[] {"x"}, 9), measure, 0.7), 0)
                            .isMatch());
        }
    }

    @Test
    public void testEmptyText() throws IOException {
        assertTrue(search(query(" ... ", Measure.LCS, 0.5)).isEmpty());
    }

    @Test
    public void testEqualQueries() {
        String text = texts.get(0);
        assertEquals(query(text, Measure.LCS, 0.8), query(text, Measure.LCS, 0.8));
        assertNotEquals(query(text, Measure.LCS, 0.8), query(text, Measure.LCS, 0.9));
        assertNotEquals(query(text, Measure.LCS, 0.8), query(text, Measure.SLOTS, 0.8));
    }

    @Test
    public void testHammingNeedsASimHash() {
        IllegalArgumentException refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> query("four words are here", Measure.HAMMING, 0.9));
        assertTrue(refused.getMessage().contains("default_v2"));
    }

    /** The best hits are those of a search that counts all. */
    @Test
    public void testBestHitsWithoutTheTotal() throws IOException {
        for (int like = 0; like < texts.size(); like += 4) {
            Query query = new BoostQuery(query(texts.get(like), Measure.LCS, 0.8), 3.7f);
            TopDocs best = searcher.search(query, new TopScoreDocCollectorManager(2, null, 1));
            ScoreDoc[] expected = searcher.search(query, 2).scoreDocs;
            assertEquals(expected.length, best.scoreDocs.length);
            for (int i = 0; i < expected.length; i++) {
                assertEquals(expected[i].doc, best.scoreDocs[i].doc);
                assertEquals(expected[i].score, best.scoreDocs[i].score, 0);
            }
        }
    }

    /** Of many candidates the texts with the most equal slots are read, and no others. */
    @Test
    public void testFewTextsAreRead() throws IOException {
        String like = texts.get(0);
        int max = randomIntBetween(1, 4);
        Map<Integer, Float> all = search(query(like, Measure.LCS, 0.5));
        TextReader reader =
                (segment, document) -> {
                    textsRead++;
                    return read(segment.docBase + document);
                };
        Query few =
                NearDuplicateQuery.of(
                        FIELD, fingerprinters, like, Measure.LCS, 0.5, reader, max);
        textsRead = 0;
        Map<Integer, Float> found = search(few);
        int alike = search(query(like, Measure.SLOTS, 124.5 / 128)).size();
        assertTrue(textsRead + " texts", textsRead <= Math.max(max, alike));
        assertTrue(all.entrySet().containsAll(found.entrySet()));
        for (int document : all.keySet()) {
            assertEquals(
                    found.containsKey(document), searcher.explain(few, document).isMatch());
        }
    }

    private Folding fold(ScoreDoc[] ranking, int window, int page) throws IOException {
        NearFoldOptions options = new NearFoldOptions(FIELD, Measure.LCS, 0.85, 10, "request");
        TextReader reader =
                (segment, document) -> {
                    textsRead++;
                    return read(segment.docBase + document);
                };
        Folder folder =
                new Folder(searcher, options, fingerprinters.recipe(), reader, () -> {});
        return folder.fold(ranking, window, page, false);
    }

    @Test
    public void testFoldingKeepsEveryHitOnce() throws IOException {
        ScoreDoc[] ranking = searcher.search(new MatchAllDocsQuery(), texts.size()).scoreDocs;
        int window = randomIntBetween(1, texts.size());
        Folding folding = fold(ranking, window, window);
        assertEquals(
                texts.size(), Arrays.stream(ranking).mapToInt(hit -> hit.doc).distinct().count());
        int members = 0;
        for (int rank = 0; rank < folding.groups(); rank++) {
            for (Folding.Member member : folding.members(ranking[rank].doc)) {
                members++;
                assertTrue(member.similarity() >= 0.85f);
                assertEquals(
                        ranking[rank].doc, folding.representative(member.document()).document());
            }
        }
        assertEquals(window, folding.groups() + members);
        for (int rank = 1; rank < ranking.length; rank++) {
            assertTrue(ranking[rank].score <= ranking[rank - 1].score);
        }
    }

    @Test
    public void testCopiesAreFoldedWithoutTheirTexts() throws IOException {
        List<ScoreDoc> hits = new ArrayList<>();
        for (int document = 0; document < texts.size(); document++) {
            if (document == 0 || texts.get(document).equals(texts.get(hits.get(0).doc))) {
                hits.add(new ScoreDoc(document, 1));
            }
        }
        int copies = hits.size() - 1;
        Folding folding = fold(copy(hits), hits.size(), 10);
        assertEquals(0, textsRead);
        assertEquals(copies, folding.members(0).size());
        folding.members(0).forEach(copy -> assertEquals(1, copy.similarity(), 0));
    }

    /** A page has the hits and members of the whole window, from fewer texts. */
    @Test
    public void testFoldingOfAPage() throws IOException {
        List<ScoreDoc> hits =
                Arrays.asList(searcher.search(new MatchAllDocsQuery(), texts.size()).scoreDocs);
        Collections.shuffle(hits, getRandom());
        int all = 0;
        int few = 0;
        for (int page = 0; page <= texts.size(); page += randomIntBetween(1, 9)) {
            ScoreDoc[] whole = copy(hits);
            ScoreDoc[] part = copy(hits);
            textsRead = 0;
            Folding expected = fold(whole, texts.size(), texts.size());
            all += textsRead;
            textsRead = 0;
            Folding folding = fold(part, texts.size(), page);
            few += textsRead;
            assertEquals(
                    texts.size(), Arrays.stream(part).mapToInt(hit -> hit.doc).distinct().count());
            for (int rank = 0; rank < Math.min(page, expected.groups()); rank++) {
                int document = whole[rank].doc;
                assertEquals(document, part[rank].doc);
                assertEquals(whole[rank].score, part[rank].score, 0);
                assertEquals(expected.members(document), folding.members(document));
            }
            for (int rank = expected.groups(); rank < page; rank++) {
                int document = whole[rank].doc;
                assertEquals(document, part[rank].doc);
                assertEquals(expected.representative(document), folding.representative(document));
            }
        }
        assertTrue(few + " of " + all, few < all);
    }

    private static ScoreDoc[] copy(List<ScoreDoc> hits) {
        return hits.stream().map(hit -> new ScoreDoc(hit.doc, 1)).toArray(ScoreDoc[]::new);
    }
}
