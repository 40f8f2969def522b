"""The compose file: valid by the Compose specification, pinned, on loopback, and the same versions
as the tests run.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose
from servers import elasticsearch
from servers.choosing import ENGINES

ROOT = Path(__file__).parents[2]
NAMES = ("docker-compose.yml", "docker-compose.elasticsearch.yml")
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
FILES = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
SECRETS = yaml.safe_load((ROOT / "docker-compose.secrets.yml").read_text(encoding="utf-8"))
OPENSEARCH, ELASTICSEARCH = (FILES[name]["services"] for name in NAMES)
SERVICES = {**OPENSEARCH, **ELASTICSEARCH}
OURS = ("install", "nearfold", "follower")
ONCE = "install"
STATEFUL = {
    "nearfold": "/data",
    "follower": "/data",
    "opensearch": "/usr/share/opensearch/data",
    "elasticsearch": "/usr/share/elasticsearch/data",
}

each_service = pytest.mark.parametrize(
    ("name", "service"),
    [
        pytest.param(name, service, id=f"{file}-{name}")
        for file, content in FILES.items()
        for name, service in content["services"].items()
    ],
)
each_file = pytest.mark.parametrize("file", FILES.values(), ids=list(FILES))


@pytest.mark.parametrize("file", [*FILES.values(), SECRETS])
def test_file_follows_the_specification(file):
    plain = json.dumps({name: part for name, part in file.items() if not name.startswith("x-")})
    assert set(PyCompose.from_json(plain).service_names()) == set(file["services"])


def test_the_check_refuses_what_the_specification_does_not_know():
    with pytest.raises(ValueError, match="imagee"):
        PyCompose.from_yaml("services: {a: {imagee: x}}")


def test_docker_takes_the_file():
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run(
            [docker, "compose", "version"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("no `docker compose` here")
    for name in NAMES:
        words = ["--file", str(ROOT / name), "--profile", "*", "config", "--quiet"]
        done = subprocess.run(
            [docker, "compose", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_systemd_takes_the_unit_of_the_follower(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd here")
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    text = page.partition("```ini\n")[2].partition("```")[0]
    unit = tmp_path / "nearfold-follower.service"
    unit.write_text(text.replace("/usr/local/bin/nearfold", sys.executable))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@each_service
def test_image_is_pinned_or_built_here(name, service):
    image = service.get("image", "nearfold:0.0.0" if service.get("build") == "." else "")
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+(\.\d+)?", image)


@each_file
def test_ports_are_published_on_loopback_only(file):
    ports = {name: service.get("ports", []) for name, service in file["services"].items()}
    without = {name for name, published in ports.items() if not published}
    assert without - {"tika"} == {"install", "follower"}
    every = [port for published in ports.values() for port in published]
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in every)
    assert len(every) == len({port.rsplit(":", 1)[0] for port in every})


def test_both_files_can_run_at_the_same_time():
    ports = [
        {
            port.rsplit(":", 1)[0]
            for service in services.values()
            for port in service.get("ports", [])
        }
        for services in (OPENSEARCH, ELASTICSEARCH)
    ]
    assert not ports[0] & ports[1]
    assert len({file["name"] for file in FILES.values()}) == len(FILES)


@each_service
def test_health_memory_and_restart_are_set(name, service):
    assert re.fullmatch(r"\d+g", service["mem_limit"])
    if name == ONCE:
        assert service["restart"] == "on-failure"
        return
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["healthcheck"]["retries"] > 0
    assert service["restart"] == "unless-stopped"


@each_file
def test_nearfold_is_wired_to_the_engine_and_to_tika(file):
    services = file["services"]
    (engine,) = services.keys() & {"opensearch", "elasticsearch"}
    for name in OURS:
        assert services[name]["environment"] == {
            "NEARFOLD_STORE": f"{engine}://{engine}:9200/docs",
            "NEARFOLD_TIKA": "http://tika:9998",
        }
    dashboards = services[ONCE]["command"][-1].partition("://")[2].partition(":")[0]
    assert set(services[ONCE]["depends_on"]) == {engine, dashboards}
    finished = {"condition": "service_completed_successfully"}
    assert services["nearfold"]["depends_on"][ONCE] == finished
    assert services["follower"]["depends_on"] == {ONCE: finished}


def test_secrets_are_files_that_services_read_by_their_variables():
    assert set(SECRETS["secrets"]) == {"logins", "password"}
    assert all(list(secret) == ["file"] for secret in SECRETS["secrets"].values())
    for name in OURS:
        service = SECRETS["services"][name]
        assert service["environment"]["NEARFOLD_PASSWORD_FILE"] == "/run/secrets/password"
        assert "password" in service["secrets"]
    assert SECRETS["services"]["nearfold"]["command"][-2:] == ["--auth", "/run/secrets/logins"]


@each_service
def test_heap_leaves_half_of_the_memory_to_the_file_system(name, service):
    options = " ".join(
        str(value)
        for variable, value in service.get("environment", {}).items()
        if variable.endswith("JAVA_OPTS")
    )
    heaps = {int(size) for size in re.findall(r"-Xm[sx](\d+)g", options)}
    assert len(heaps) <= 1
    assert all(2 * heap <= int(service["mem_limit"][:-1]) for heap in heaps)


@pytest.mark.parametrize(("name", "place"), STATEFUL.items())
def test_data_live_in_a_named_volume(name, place):
    (volume,) = SERVICES[name]["volumes"]
    named, _, inside = volume.partition(":")
    assert any(named in file["volumes"] for file in FILES.values())
    assert inside == place


def test_only_the_engine_with_the_plugin_is_behind_a_profile():
    profiles = {
        name: service["profiles"] for name, service in SERVICES.items() if "profiles" in service
    }
    assert profiles == {"opensearch-plugin": ["plugin"]}


@pytest.mark.parametrize("name", list(ENGINES))
def test_versions_are_those_the_tests_run(name):
    engine = (
        elasticsearch.engine(elasticsearch.NEWEST) if name == "elasticsearch" else ENGINES[name]
    )
    build = SERVICES[name].get("build", {})
    assert f"FROM {engine.image}\n" in build.get("dockerfile_inline", "") or (
        SERVICES[name]["image"] == engine.image
    )


@pytest.mark.parametrize(
    ("name", "engine"), [("opensearch-dashboards", "opensearch"), ("kibana", "elasticsearch")]
)
def test_dashboards_match_their_engine(name, engine):
    assert SERVICES[name]["image"].rsplit(":", 1)[1] == SERVICES[engine]["image"].rsplit(":", 1)[1]
    assert SERVICES[name]["depends_on"] == {engine: {"condition": "service_healthy"}}


def test_missing_security_is_stated():
    assert "SECURITY OF THE ENGINES IS OFF" in TEXTS[NAMES[0]].split("services:")[0]
