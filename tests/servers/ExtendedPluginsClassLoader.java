package org.opensearch.plugins;

import java.util.List;

/**
 * Loads the classes of modules that a module extends; OpenSearch 2 publishes no jar with its own.
 */
public final class ExtendedPluginsClassLoader extends ClassLoader {
    private final List<ClassLoader> extended;

    private ExtendedPluginsClassLoader(ClassLoader parent, List<ClassLoader> extended) {
        super(parent);
        this.extended = extended;
    }

    public static ExtendedPluginsClassLoader create(
            ClassLoader parent, List<ClassLoader> extended) {
        return new ExtendedPluginsClassLoader(parent, extended);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        for (ClassLoader loader : extended) {
            try {
                return loader.loadClass(name);
            } catch (ClassNotFoundException absent) {
                continue;
            }
        }
        throw new ClassNotFoundException(name);
    }
}
