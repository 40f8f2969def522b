"""The page of the fields that commands print with --json."""

from json_reference import PAGE, page


def test_the_page_has_the_fields_of_real_output() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/json_reference.py"
