import org.opensearch.common.settings.KeyStoreWrapper;

import java.lang.reflect.Method;
import java.nio.file.Path;

/** Writes the keystore of OpenSearch, whose command line is not among its published jars. */
public final class WriteKeystore {

    public static void main(String[] arguments) throws Exception {
        // Public in 3.x, of its package in 2.19.
        Method setString = KeyStoreWrapper.class.getDeclaredMethod("setString", String.class, char[].class);
        setString.setAccessible(true);
        try (KeyStoreWrapper keystore = KeyStoreWrapper.create()) {
            setString.invoke(keystore, arguments[1], arguments[2].toCharArray());
            keystore.save(Path.of(arguments[0]), new char[0]);
        }
    }
}
