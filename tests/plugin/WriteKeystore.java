import org.opensearch.common.settings.KeyStoreWrapper;

import java.nio.file.Path;

/** Writes the keystore of OpenSearch, whose command line is not among its published jars. */
public final class WriteKeystore {

    public static void main(String[] arguments) throws Exception {
        try (KeyStoreWrapper keystore = KeyStoreWrapper.create()) {
            keystore.setString(arguments[1], arguments[2].toCharArray());
            keystore.save(Path.of(arguments[0]), new char[0]);
        }
    }
}
