"""`compare --discounted` as docs/discounting.md has it."""

from pathlib import Path

import pytest
from command import run, run_json

FORM = (
    "Please pay the amount stated below within thirty days of the date of this invoice "
    "to the account named at its foot."
)


def test_invoices_on_one_form(tmp_path: Path) -> None:
    folder, store = tmp_path / "invoices", f"sqlite:///{tmp_path}/store.db"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.txt").write_text(
            f"{FORM} Item {number}: {' '.join(f'w{number}x{n}' for n in range(8))}."
        )
    run("index", folder, store=store)
    a, b = folder / "0.txt", folder / "1.txt"
    answer = run_json("compare", a, b, "--discounted", store=store)
    assert answer["discounted"]["texts"] == 10
    assert answer["discounted"]["plain"] == pytest.approx(answer["measures"]["resemblance"])
    assert answer["discounted"]["similarity"] < 0.2 < answer["discounted"]["plain"]
    assert "weighted by rarity in 10 texts" in run("compare", a, b, "--discounted", store=store)
    assert "discounted" not in run_json(
        "compare", a, b, "--html", tmp_path / "page.html", store=store
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "rarity in 10 texts of the store" in page
    assert f"{answer['discounted']['similarity']:.1%}" in page
    run(
        "compare",
        a,
        b,
        "--html",
        tmp_path / "page.html",
        "--replace",
        store=f"sqlite:///{tmp_path}/none.db",
    )
    assert "no corpus statistics" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_it_needs_a_store(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one text")
    run(
        "compare",
        tmp_path / "a.txt",
        tmp_path / "a.txt",
        "--discounted",
        store=f"sqlite:///{tmp_path}/none.db",
        code=3,
    )
