"""The refusals, headers and answers of the pages, by plain requests without a browser."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import jsonschema
import pytest
from command import outcome
from sample_library import edited, rows, sentence

from indexer.grouping.group import group
from indexer.recipe import DEFAULT
from indexer.review.api.endpoints import MAX_BYTES
from indexer.review.safety import allowed_hosts, is_loopback
from indexer.review.serve import REVIEW_API
from indexer.stores import open_store
from web.hostile import hostile_rows
from web.plain_requests import request
from web.watching import ROOT, run_site

PATHS = (
    "/",
    "/?q=agreement",
    "/family?id=m2",
    "/thread?id=m1",
    "/versions?id=m2",
    "/matrix?id=m2",
    "/compare?a=m1&b=m2",
    "/document?id=m1",
    "/worklist?least=1&part=all",
    "/overview",
    "/threshold",
    "/regroup?threshold=0.5",
    "/jobs",
    "/searches",
    "/api",
)
FILES = (
    "/redline.docx?a=m1&b=m2",
    "/static/base.css",
    "/static/review.js",
    "/static/icon.svg",
    "/nothing",
    "/api/nothing",
)


@pytest.mark.long
@pytest.mark.parametrize(
    "path", [*PATHS, *FILES, "/api/search", "/api/openapi.json", "/api/family"]
)
def test_every_answer_is_locked_down(site: str, path: str) -> None:
    headers = request(site, path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert (
        headers["x-content-type-options"],
        headers["referrer-policy"],
        headers["x-frame-options"],
    ) == (
        "nosniff",
        "same-origin",
        "DENY",
    )
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "", "127.0.0.1", "127.0.0.1.evil.example:8765", "0.0.0.0"],
)
def test_an_unknown_host_is_refused(site: str, host: str) -> None:
    answer = request(site, "/?q=agreement", Host=host)
    assert answer.status in (400, 421)
    assert b"agreement" not in answer.body


def test_names_of_this_machine_are_answered(site: str) -> None:
    port = urlsplit(site).port
    assert request(site, "/jobs", Host=f"LOCALHOST:{port}").status == 200
    assert "review.example" in allowed_hosts("127.0.0.1", 8765, ["review.example"])
    assert not {"0.0.0.0:80", "[::]:80"} & (allowed_hosts("0.0.0.0", 80) | allowed_hosts("::", 80))
    assert [
        is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1")
    ] == [True] * 3 + [False] * 2


@pytest.mark.parametrize("path", ["/", "/api/search", "/threshold"])
def test_writes_of_another_site_are_refused(site: str, path: str) -> None:
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
    ):
        assert request(site, path, "POST", b"x=1", **headers).status == 403
    assert request(site, path, "POST", b"x=1", Origin=site).status == 405
    behind_tls = site.replace("http:", "https:")
    assert request(site, path, "POST", b"x=1", Origin=behind_tls).status == 405


def test_other_sites_link_to_pages_and_load_nothing(site: str) -> None:
    def status(path: str, origin: str, mode: str, dest: str) -> int:
        headers = {"Sec_Fetch_Site": origin, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
        return request(site, path, **headers).status

    for origin in ("cross-site", "same-site"):
        assert status("/?q=x", origin, "navigate", "document") == 200
        for path, mode, dest in (
            ("/api/search?q=x", "no-cors", "script"),
            ("/api/search?q=x", "cors", "empty"),
            ("/?q=x", "navigate", "iframe"),
            ("/hits.csv", "no-cors", "image"),
        ):
            assert status(path, origin, mode, dest) == 403
    assert status("/api/search?q=x", "same-origin", "cors", "empty") == 200
    assert status("/api/search?q=x", "none", "navigate", "document") == 200
    assert request(site, "/api/search?q=x", Sec_Fetch_Site="cross-site").status == 403


WRITES = (
    "/label",
    "/label/undo",
    "/overview/refresh",
    "/regroup/apply",
    "/searches/save",
    "/terms/save",
    "/terms/delete",
    "/searches/delete",
    *(f"/api/{endpoint.path}" for endpoint in REVIEW_API.writes.values()),
)


@pytest.mark.parametrize("path", WRITES)
def test_writes_need_the_token_of_this_run(site: str, path: str) -> None:
    body = json.dumps({"id": ["m1"], "add": ["stolen"], "dry_run": False, "job": 1}).encode()
    for headers in ({}, {"X_Nearfold_Token": "x" * 43}, {"X_Nearfold_Token": "\u00e9"}):
        assert (
            request(site, path, "POST", body, Content_Type="application/json", **headers).status
            == 403
        )
    assert (
        request(
            site,
            path,
            "POST",
            b"id=m1&add=stolen&token=wrong",
            Content_Type="application/x-www-form-urlencoded",
        ).status
        == 403
    )
    assert request(site, path, "GET").status == 405
    token = json.loads(request(site, "/api/token").body)["token"]
    most = next(
        (
            endpoint.max_bytes
            for endpoint in REVIEW_API.writes.values()
            if path.endswith(f"/api/{endpoint.path}")
        ),
        MAX_BYTES,
    )
    for kind, content in (
        ("text/plain", body),
        ("application/json", b"[" * 9000),
        ("application/json", b'{"id": {"a": 1}}'),
    ):
        assert (
            request(site, path, "POST", content, Content_Type=kind, X_Nearfold_Token=token).status
            == 400
        )
    assert (
        request(
            site,
            path,
            "POST",
            b" " * (most + 1),
            Content_Type="application/json",
            X_Nearfold_Token=token,
        ).status
        == 413
    )
    assert b"stolen" not in request(site, "/api/search?fold=none&limit=100").body


def test_labels_are_tried_written_and_undone_by_the_api(site: str) -> None:
    token = json.loads(request(site, "/api/token").body)["token"]
    described = json.loads(request(site, "/api/openapi.json").body)

    def post(path: str, **values: object) -> dict:
        headers = {"Content_Type": "application/json", "X_Nearfold_Token": token}
        answer = request(site, f"/api/{path}", "POST", json.dumps(values).encode(), **headers)
        assert answer.status == 200, answer.body
        schema = described["paths"][f"/{path}"]["post"]["responses"]["200"]["content"][
            "application/json"
        ]["schema"]
        jsonschema.Draft202012Validator({**schema, "components": described["components"]}).validate(
            json.loads(answer.body)
        )
        return json.loads(answer.body)

    def carriers() -> int:
        return json.loads(request(site, "/api/search?filter=labels%3Dhot+stuff&fold=none").body)[
            "total"
        ]

    tried = post("label", id="long1", add=["hot stuff"])
    assert (tried["job"], len(tried["changes"]), carriers()) == (None, 1, 0)
    labelling = post("label", id=["long1"], add="hot stuff", family=True, dry_run=False)
    assert (len(labelling["changes"]), carriers()) == (2, 2)
    undone = post("label/undo", job=labelling["job"])
    assert (len(undone["restored"]), carriers()) == (2, 0)
    assert post("survey/refresh") == {"forgotten": True}


@pytest.mark.long
def test_originals_are_served_by_id_from_inside_the_root_only(
    site: str, store_url: str, tmp_path: Path
) -> None:
    hits = json.loads(request(site, "/api/search?fold=none&limit=100").body)["hits"]
    inside = next(hit for hit in hits if hit["path"].endswith("services-agreement-2024.txt"))
    answer = request(site, f"/original?id={quote(inside['id'])}")
    assert answer.body == (ROOT / "examples" / "services-agreement-2024.txt").read_bytes()
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    for id in ("m1", "/etc/passwd", "../../etc/passwd", ""):
        assert request(site, f"/original?id={quote(id, safe='')}").status == 404
    outside, root = tmp_path / "secret.txt", tmp_path / "root"
    outside.write_text("secret")
    root.mkdir()
    (root / "link.txt").symlink_to(outside)
    store = open_store(f"sqlite:///{tmp_path}/links.db")
    documents = rows({"link": sentence(1)})
    store.prepare(DEFAULT)
    places = {"link": root / "link.txt", "up": root / ".." / "secret.txt", "folder": root}
    store.write(
        [replace(documents[0], id=id, family=id, path=str(place)) for id, place in places.items()]
    )
    store.close()
    with run_site(f"sqlite:///{tmp_path}/links.db", "--originals", str(root)) as address:
        assert [request(address, f"/original?id={id}").status for id in places] == [404] * 3
        for id in places:
            assert not json.loads(request(address, f"/api/document?id={id}").body)["original_gone"]
    with run_site(store_url) as address:
        assert request(address, f"/original?id={quote(inside['id'])}").status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/templates/base.html",
    ],
)
def test_static_files_are_those_of_one_folder(site: str, path: str) -> None:
    assert request(site, path).status == 404


@pytest.mark.long
def test_changes_of_a_pair_come_as_a_word_document(site: str) -> None:
    answer = request(site, "/redline.docx?a=m1&b=m2")
    assert answer.status == 200
    assert "attachment" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.body)) as package:
        assert b"w:ins" in package.read("word/document.xml")
    printed = request(site, "/redline.pdf?a=m1&b=m2")
    while "refresh" in printed.headers:  # it is still being written
        printed = request(site, "/redline.pdf?a=m1&b=m2")
    assert (printed.status, printed.body[:5]) == (200, b"%PDF-")
    assert printed.headers["content-disposition"] == 'attachment; filename="redline.pdf"'
    assert request(site, "/redline.docx?a=m1&b=nowhere").status == 404
    assert request(site, "/redline.docx?a=m1").status == 400


@pytest.mark.long
def test_the_api_answers_as_it_is_described(site: str) -> None:
    described = json.loads(request(site, "/api/openapi.json").body)
    assert described["openapi"].startswith("3.1")
    assert set(described["paths"]) == {
        "/token",
        *(f"/{endpoint.path}" for endpoint in REVIEW_API.reads.values()),
        *(f"/{endpoint.path}" for endpoint in REVIEW_API.writes.values()),
    }
    queries = {
        "search": [
            {"q": "agreement"},
            {"filter": "labels=hostile", "fold": "family"},
            {"q": "", "limit": "100"},
        ],
        "document": [{"id": "m1"}, {"id": hostile_rows()[0].id}],
        "similar": [{"id": "m1"}],
        "facts": [{"id": "m1", "other": "m2"}],
        "thread": [{"id": "m1"}, {"id": hostile_rows()[0].id}],
        "family": [{"id": "m2"}, {"id": "long1"}],
        "differences": [{"id": "m2", "wait": "20"}, {"id": "long1", "wait": "20"}],
        "variants": [{"id": "m2", "wait": "20"}, {"id": "long1", "wait": "20"}],
        "near": [{"id": "m2", "wait": "20"}],
        "dashboard": [{"wait": "20"}],
        "coding": [{}],
        "terms": [{}],
        "compare": [{"a": "m1", "b": "m2"}, {"a": "m1", "b": "long1", "matching": "information"}],
        "discounted": [
            {"a": "m1", "b": "m2", "wait": "20"},
            {"a": "m1", "b": "long1", "wait": "0"},
        ],
        "versions": [{"id": "m2"}, {"id": "m2", "dates": "no", "redline": "yes"}],
        "matrix": [{"id": "m2"}, {"id": "m2", "rows": "all"}],
        "status": [{}],
        "labellings": [{}],
        "figures": [{"wait": "20"}],
        "survey": [{"wait": "20"}],
        "preview": [{"threshold": "0.7"}],
        "regroup": [{"threshold": "0.95", "wait": "20"}],
        "worklist": [{"wait": "20"}, {"least": "1", "part": "all", "reviewer": "anna"}],
        "history": [{"id": "m1"}],
        "searches": [{}],
        "counts": [{}],
    }
    assert queries.keys() == REVIEW_API.reads.keys()
    for name, parameter_sets in queries.items():
        path = REVIEW_API.reads[name].path
        for parameters in parameter_sets:
            answer = request(site, f"/api/{path}?{urlencode(parameters)}")
            assert answer.status == 200, answer.body
            schema = described["paths"][f"/{path}"]["get"]["responses"]["200"]["content"][
                "application/json"
            ]["schema"]
            jsonschema.Draft202012Validator(
                {**schema, "components": described["components"]}
            ).validate(json.loads(answer.body))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/search?threshold=nan", 400),
        ("/api/search?page=0", 400),
        ("/api/search?fold=sideways", 400),
        ("/api/search?filter=nothing", 400),
        ("/api/search?filter=nothing%3D1", 400),
        ("/api/search?q=" + "x" * 2001, 400),
        ("/api/family", 400),
        ("/api/family?id=nowhere", 404),
        ("/api/compare?a=m1&b=nowhere", 404),
        ("/api/nothing", 404),
        ("/api/search?q=%ff%fe%00", 200),
        ("/api/document?id=%ed%a0%80", 404),
        ("/api/similar?id=nowhere", 404),
        ("/api/document?id=m1&part=9999", 404),
        ("/api/compare?a=m1&b=m2&part=9999", 404),
        ("/api/search?query=agreement", 400),
        ("/api/family?id=m1&Id=m2", 400),
        ("/api/document?id=m1&id=m2", 400),
        ("/api/status?x=1", 400),
        ("/api/token?x=1", 400),
        ("/api/openapi.json?x=1", 400),
    ],
)
def test_wrong_questions_get_an_error_in_json(site: str, path: str, status: int) -> None:
    answer = request(site, path)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/json"
    assert status == 200 or json.loads(answer.body)["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "named"),
    [
        ("label", {"id": "m1", "add": "hot", "dryrun": True}, 400, "dryrun"),
        ("label", {"id": "m1", "label": "hot"}, 400, "label"),
        ("label", {"id": ["m1", "nowhere"], "add": "hot", "dry_run": False}, 404, "nowhere"),
        ("label", {"id": "m1", "add": "a;b", "dry_run": False}, 400, "semicolon"),
        ("label", {"id": "m1", "add": "  ", "dry_run": False}, 400, "blank"),
        ("label", {"id": "m1", "add": "two\nlines", "dry_run": False}, 400, "invisible"),
        ("label/undo", {"job": 4711}, 404, "4711"),
        ("label/undo", {"job": 1, "dry_run": True}, 400, "dry_run"),
        ("survey/refresh", {"wait": 1}, 400, "wait"),
        ("label?dry_run=yes", {"id": "m1", "add": "hot"}, 400, "dry_run"),
    ],
)
def test_wrong_writes_say_what_is_wrong_and_write_nothing(
    site: str, path: str, body: dict, status: int, named: str
) -> None:
    token = json.loads(request(site, "/api/token").body)["token"]
    before = json.loads(request(site, "/api/document?id=m1").body)["document"]["labels"]
    headers = {"Content_Type": "application/json", "X_Nearfold_Token": token}
    answer = request(site, f"/api/{path}", "POST", json.dumps(body).encode(), **headers)
    assert (answer.status, named in json.loads(answer.body)["error"]) == (status, True), answer.body
    assert json.loads(request(site, "/api/document?id=m1").body)["document"]["labels"] == before
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    form_values = {name: "no" if value is False else value for name, value in body.items()}
    fields = urlencode({**form_values, "token": token}, doseq=True).encode()
    page = request(
        site,
        f"/{path}" if path.startswith("label") else "/overview/refresh",
        "POST",
        fields,
        **form,
    )
    assert (page.status, b"<h1>" in page.body) == (status, True)


def test_pages_say_what_is_not_there(site: str) -> None:
    for path in (
        "/document?id=nowhere",
        "/document?id=m1&part=9999",
        "/compare?a=m1&b=m2&part=2",
        "/family?id=nowhere",
    ):
        assert request(site, path).status == 404
    assert b"The hits end before page 9,999" in request(site, "/?q=agreement&page=9999").body
    assert request(site, "/jobs?from=a-mail").status == 200


def test_pages_and_api_say_the_same(site: str) -> None:
    answer = json.loads(request(site, "/api/search?q=agreement").body)
    page = request(site, "/?q=agreement").body.decode()
    assert [page.count(quote(hit["id"])) > 0 for hit in answer["hits"]] == [True] * len(
        answer["hits"]
    )


@pytest.mark.long
def test_parallel_requests_are_answered_while_documents_are_added(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/busy.db"
    store = open_store(url)
    store.prepare(DEFAULT)
    store.write(rows({f"m{place}": edited(sentence(3), place) for place in range(6)}))
    group(store)
    with run_site(url) as address, ThreadPoolExecutor(8) as pool:
        places = [path for path in PATHS for _ in range(8)]
        waiting = [pool.submit(request, address, path) for path in places]
        for start in range(10):
            store.write(
                rows({f"new{start}-{place}": sentence(start * 20 + place) for place in range(20)})
            )
        assert {future.result().status for future in waiting} == {200}
    store.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, 0, ""),
        (signal.SIGTERM, 143, "terminated; run the same command again to go on\n"),
    ],
)
def test_serve_says_where_and_ends_on_a_signal(
    store_url: str, sent: signal.Signals, code: int, message: str
) -> None:
    command = [sys.executable, "-m", "indexer", "serve", "--port", "0", "--store", store_url]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, **pipes
    ) as process:
        address = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
        assert address.startswith("http://127.0.0.1:")
        for path in PATHS:
            request(address, path)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (code, message)


@pytest.mark.long
def test_serve_fails_before_it_listens(tmp_path: Path, site: str, store_url: str) -> None:
    absent = outcome("serve", store=f"sqlite:///{tmp_path}/none.db")
    assert (absent.returncode, "nearfold index" in absent.stderr) == (3, True)
    taken = outcome("serve", "--port", str(urlsplit(site).port), store=store_url)
    assert (taken.returncode, "--port" in taken.stderr) == (2, True)
    nowhere = outcome("serve", "--originals", tmp_path / "nowhere", store=store_url)
    assert nowhere.returncode == 2


def test_the_pages_work_over_a_search_engine(opensearch_url: str) -> None:
    url = f"{opensearch_url.replace('http://', 'opensearch://')}/pages-{os.getpid()}"
    store = open_store(url)
    store.prepare(DEFAULT)
    try:
        store.write(
            rows(
                {f"m{place}": edited(sentence(3), place) for place in range(6)},
                labels={"m1": ("hot",)},
            )
        )
        store.refresh()
        group(store)
        with run_site(url) as address:
            assert {path: request(address, path).status for path in PATHS} == dict.fromkeys(
                PATHS, 200
            )
            facets = json.loads(request(address, "/api/search").body)["facets"]
            assert facets["labels"] == [
                {"value": "hot", "documents": 1, "families": 1, "relation": "approximate"}
            ]
            assert json.loads(request(address, "/api/family?id=m3").body)["size"] > 1
    finally:
        store.close()
        endpoint = urlsplit(opensearch_url).netloc
        for name in (f"pages-{os.getpid()}", f"pages-{os.getpid()}-write"):
            connection = http.client.HTTPConnection(endpoint)
            connection.request("DELETE", f"/{name}")
            connection.getresponse().read()
            connection.close()
