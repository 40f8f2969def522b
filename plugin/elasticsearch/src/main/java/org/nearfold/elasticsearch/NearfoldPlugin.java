package org.nearfold.elasticsearch;

import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.common.settings.SecureSetting;
import org.elasticsearch.common.settings.SecureString;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.mapper.Mapper;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.MapperPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.SearchPlugin;
import org.elasticsearch.search.fetch.FetchSubPhase;
import org.nearfold.lucene.Foldings;
import org.nearfold.lucene.NearDuplicateOptions;
import org.nearfold.lucene.NearFoldOptions;
import org.nearfold.lucene.RecipeRegistry;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Near duplicates in Elasticsearch: a field type, a query, and a rescorer that folds and lists what
 * it folded, over several shards by an action filter.
 */
public final class NearfoldPlugin extends Plugin
        implements ActionPlugin, MapperPlugin, SearchPlugin {

    /** The secret keys of recipes, in the keystore of every node. */
    static final Setting.AffixSetting<SecureString> KEYS =
            Setting.affixKeySetting(
                    "nearfold.key.", "secret", name -> SecureSetting.secureString(name, null));

    private final RecipeRegistry recipes;
    private final Foldings foldings = new Foldings();
    private final NearFoldFilter filter = new NearFoldFilter();

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
    public Collection<?> createComponents(PluginServices services) {
        filter.use(services);
        return List.of();
    }

    @Override
    public Collection<MappedActionFilter> getMappedActionFilters() {
        return List.of(filter);
    }

    @Override
    public void onIndexModule(IndexModule index) {
        index.addSearchOperationListener(new PageListener());
    }

    @Override
    public List<FetchSubPhase> getFetchSubPhases(FetchPhaseConstructionContext context) {
        return List.of(new NearFoldFetchPhase());
    }
}
