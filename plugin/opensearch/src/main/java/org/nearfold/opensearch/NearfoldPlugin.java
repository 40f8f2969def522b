package org.nearfold.opensearch;

import org.nearfold.lucene.Foldings;
import org.nearfold.lucene.NearDuplicateOptions;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.RecipeRegistry;
import org.opensearch.common.settings.SecureSetting;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.settings.SecureString;
import org.opensearch.index.IndexModule;
import org.opensearch.index.mapper.Mapper;
import org.opensearch.plugins.MapperPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.SearchPipelinePlugin;
import org.opensearch.plugins.SearchPlugin;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.pipeline.Processor;
import org.opensearch.search.pipeline.SearchRequestProcessor;
import org.opensearch.search.pipeline.SearchResponseProcessor;
import org.opensearch.threadpool.ThreadPool;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Near duplicates in OpenSearch: a field type, a query, and a rescorer that folds and lists what it
 * folded.
 */
public final class NearfoldPlugin extends Plugin
        implements MapperPlugin, SearchPlugin, SearchPipelinePlugin {

    /** The secret keys of recipes, in the keystore of every node. */
    static final Setting.AffixSetting<SecureString> KEYS =
            Setting.affixKeySetting(
                    "nearfold.key.", "secret", name -> SecureSetting.secureString(name, null));

    private final RecipeRegistry recipes;
    private final Foldings foldings = new Foldings();

    /** Reads the secret keys, as the keystore is closed later. */
    public NearfoldPlugin(Settings settings) {
        Map<String, String> secrets = new TreeMap<>();
        KEYS.getAllConcreteSettings(settings)
                .forEach(
                        setting -> {
                            try (SecureString secret = setting.get(settings)) {
                                secrets.put(KEYS.getNamespace(setting), secret.toString());
                            }
                        });
        recipes = new RecipeRegistry(secrets::get);
    }

    @Override
    public List<Setting<?>> getSettings() {
        return List.of(KEYS);
    }

    @Override
    public Map<String, Mapper.TypeParser> getMappers() {
        return Map.of(
                NearDuplicateFieldMapper.CONTENT_TYPE, NearDuplicateFieldMapper.parser(recipes));
    }

    @Override
    public List<QuerySpec<?>> getQueries() {
        return List.of(
                new QuerySpec<>(
                        NearDuplicateOptions.NAME,
                        NearDuplicateQueryBuilder::new,
                        NearDuplicateQueryBuilder::fromXContent));
    }

    @Override
    public List<RescorerSpec<?>> getRescorers() {
        return List.of(
                new RescorerSpec<>(
                        NearFoldOptions.NAME,
                        in -> new NearFoldBuilder(in, foldings),
                        parser -> NearFoldBuilder.fromXContent(parser, foldings)));
    }

    @Override
    public void onIndexModule(IndexModule index) {
        index.addSearchOperationListener(new PageListener());
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(new NearFoldFetchPhase());
    }

    @Override
    public Map<String, Processor.Factory<SearchRequestProcessor>> getRequestProcessors(
            Parameters parameters) {
        return Map.of(NearFoldOptions.NAME, new NearFoldRequestProcessor.Factory());
    }

    @Override
    public Map<String, Processor.Factory<SearchResponseProcessor>> getResponseProcessors(
            Parameters parameters) {
        return Map.of(
                NearFoldOptions.NAME,
                new NearFoldResponseProcessor.Factory(
                        parameters.client::multiGet,
                        parameters.client.threadPool().executor(ThreadPool.Names.SEARCH)));
    }
}
