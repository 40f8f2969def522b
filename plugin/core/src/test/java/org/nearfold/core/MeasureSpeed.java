package org.nearfold.core;

import org.nearfold.core.sketch.Fingerprinter;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures how fast one thread fingerprints the texts of a file, cut into documents.
 *
 * <p>Arguments: recipe, file in UTF-8, characters of a document, seconds. Prints megabytes of UTF-8
 * a second, and the bytes that are allocated for a document.
 */
public final class MeasureSpeed {

    private MeasureSpeed() {}

    public static void main(String[] arguments) throws IOException {
        String whole = Files.readString(Path.of(arguments[1]));
        int size = Integer.parseInt(arguments[2]);
        List<String> texts = new ArrayList<>();
        long bytes = 0;
        for (int start = 0; start + size <= whole.length(); start += size) {
            String text = new String(whole.substring(start, start + size));
            texts.add(text);
            bytes += text.getBytes(StandardCharsets.UTF_8).length;
        }
        Fingerprinter fingerprinter =
                new Fingerprinter(Recipe.named(arguments[0], name -> "0".repeat(64)));
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        double seconds = Double.parseDouble(arguments[3]);
        double best = 0;
        long allocated = 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        int sum = 0;
        while (System.nanoTime() < end) {
            long before = threads.getCurrentThreadAllocatedBytes();
            long start = threads.getCurrentThreadCpuTime();
            for (String text : texts) {
                sum += fingerprinter.fingerprint(text).words();
            }
            double took = (threads.getCurrentThreadCpuTime() - start) / 1e9;
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
            best = Math.max(best, bytes / took / 1e6);
        }
        System.out.printf(
                "%.0f MB/s, %d bytes allocated a document of %d words%n",
                best,
                allocated / texts.size(),
                sum > 0 ? fingerprinter.fingerprint(texts.get(0)).words() : 0);
    }
}
