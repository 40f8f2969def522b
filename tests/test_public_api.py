"""The public names, pinned: adding or removing a name is a decision."""

import inspect
import pickle
import subprocess
import sys

import pytest

import indexer
import nearfold
from indexer.errors import NearfoldError, StoreError
from indexer.system.release import release

TEXT = "The harbour ferry leaves at eight in the morning and returns at six in the evening."
PUBLIC = {
    "CheckOptions",
    "ChunkOptions",
    "CodingField",
    "CodingRule",
    "DedupOptions",
    "DuplicatesOptions",
    "EvaluateOptions",
    "ExportOptions",
    "FamiliesOptions",
    "GroupOptions",
    "Index",
    "IndexOptions",
    "LabelFileOptions",
    "LabelOptions",
    "MatchOptions",
    "PassagesOptions",
    "Recipe",
    "SearchOptions",
    "SimilarOptions",
    "SynthOptions",
    "ThreadsOptions",
    "TuneOptions",
    "approved_passages",
    "backup",
    "check",
    "check_mail",
    "compare",
    "compare_page",
    "consistency",
    "dedup",
    "dedupe",
    "define_coding",
    "delete",
    "doctor",
    "duplicate_pairs",
    "duplicate_sets",
    "duplicates",
    "evaluate",
    "export",
    "families",
    "fingerprint",
    "fingerprints",
    "fold_chunks",
    "fold_hits",
    "group",
    "groups",
    "hash",
    "index",
    "install",
    "label",
    "label_from",
    "match",
    "open_store",
    "pairs",
    "passages",
    "plan",
    "recipe_named",
    "reindex",
    "restore",
    "search",
    "show",
    "similar",
    "similar_many",
    "similarity",
    "status",
    "study",
    "synth",
    "threads",
    "tune",
    "undo_duplicates",
    "undo_labels",
    "uninstall",
    "versions",
}


def test_public_names() -> None:
    assert set(indexer.__all__) == PUBLIC
    assert all(hasattr(indexer, name) for name in PUBLIC)


def test_nearfold_has_the_same_names_and_its_version() -> None:
    assert set(nearfold.__all__) == PUBLIC | {"__version__"} == set(dir(nearfold))
    assert all(getattr(nearfold, name) is getattr(indexer, name) for name in ("dedupe", "Index"))
    assert nearfold.__version__ == release()
    command = [sys.executable, "-m", "nearfold", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert release() in done.stdout


def test_no_public_function_hides_a_module() -> None:
    import importlib.util

    hidden = {name for name in PUBLIC if importlib.util.find_spec(f"indexer.{name}") is not None}
    assert not hidden


def test_every_public_name_is_described() -> None:
    assert [name for name in PUBLIC if not getattr(indexer, name).__doc__] == []


def test_every_error_is_ours_and_described() -> None:
    from indexer import errors

    tree = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    assert all(issubclass(kind, NearfoldError) and kind.__doc__ for kind in tree)
    hierarchy = errors.__doc__ or ""
    assert [kind.__name__ for kind in tree if kind.__name__ not in hierarchy] == []


def test_optional_libraries_are_not_imported() -> None:
    heavy = ("opensearchpy", "elasticsearch", "tika", "iscc_tika", "click", "rich")
    code = f"import sys, nearfold; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_errors_keep_their_kind_and_facts_from_one_process_to_another() -> None:
    from indexer.errors import NoFeatures, UnknownName, UnknownRecipe, UsageError

    for error in (
        NoFeatures(),
        UnknownRecipe(name="x", known=("default",)),
        UnknownName("way", None, ["padded", "shorter"]),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
    assert issubclass(NoFeatures, ValueError)
    assert issubclass(NoFeatures, UsageError)
    assert (
        str(UnknownName("way", "x", ["padded", "shorter"]))
        == "unknown way 'x'; choose one of: padded, shorter"
    )


@pytest.mark.long
def test_a_single_path_need_not_be_in_a_list(tmp_path) -> None:
    mail = tmp_path / "a.eml"
    mail.write_text(f"From: a@x.org\nMessage-ID: <1@x.org>\n\n{TEXT}\n")
    for paths in (str(mail), mail, [str(mail)]):
        assert [file.path for file in indexer.hash(paths)] == [str(mail)]
        assert indexer.threads(paths).mail_count == 1
        assert indexer.index(paths, "sqlite://:memory:").seen == 1


def test_dedup_takes_a_single_path(tmp_path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(f'{{"text": "{TEXT}"}}\n' * 2)
    assert indexer.dedup(str(rows), tmp_path / "out.jsonl").kept == 1


def test_help_says_that_a_store_may_be_a_url() -> None:
    assert "store: 'FullStore | str'" in str(inspect.signature(indexer.search))
    assert "store: 'Store | None | str' = None" in str(inspect.signature(indexer.evaluate))


def test_the_url_of_a_store_is_taken_for_a_store(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    folder = tmp_path / "texts"
    folder.mkdir()
    assert indexer.index(str(folder), url).seen == 0
    with pytest.raises(StoreError, match="no index"):
        indexer.match(url)
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"{TEXT} {name}")
    assert indexer.index(str(folder), url).indexed == 2
    assert [pair.similarity for pair in indexer.match(url)] == [16 / 17]
    assert len(indexer.similar(url, TEXT).matches) == 2
    assert len(list(indexer.similar_many(url, [TEXT, TEXT]))) == 2
    indexer.group(store=url)
    assert len(list(indexer.families(url))) == 1
