"""The compose file: valid by the Compose specification, pinned, on loopback, and the same versions
as the tests run.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose
from servers import elasticsearch
from servers.choosing import ENGINES

PATH = Path(__file__).parents[2] / "docker-compose.yml"
TEXT = PATH.read_text(encoding="utf-8")
FILE = yaml.safe_load(TEXT)
SERVICES = FILE["services"]
STATEFUL = {
    "nearfold": "/data",
    "opensearch": "/usr/share/opensearch/data",
    "elasticsearch": "/usr/share/elasticsearch/data",
}

each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=list(SERVICES))


def test_file_follows_the_specification():
    plain = json.dumps({name: part for name, part in FILE.items() if not name.startswith("x-")})
    assert set(PyCompose.from_json(plain).service_names()) == set(SERVICES)


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
    command = [docker, "compose", "--file", str(PATH), "--profile", "*", "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@each_service
def test_image_is_pinned_or_built_here(service):
    image = service.get("image", "nearfold:0.0.0" if service.get("build") == "." else "")
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+(\.\d+)?", image)


def test_ports_are_published_on_loopback_only():
    ports = {name: service.get("ports", []) for name, service in SERVICES.items()}
    assert [name for name, published in ports.items() if not published] == ["follower"]
    every = [port for published in ports.values() for port in published]
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in every)
    assert len(every) == len({port.rsplit(":", 1)[0] for port in every})


@each_service
def test_health_memory_and_restart_are_set(service):
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["healthcheck"]["retries"] > 0
    assert re.fullmatch(r"\d+g", service["mem_limit"])
    assert service["restart"] == "unless-stopped"


@each_service
def test_heap_leaves_half_of_the_memory_to_the_file_system(service):
    options = " ".join(
        str(value)
        for name, value in service.get("environment", {}).items()
        if name.endswith("JAVA_OPTS")
    )
    heaps = {int(size) for size in re.findall(r"-Xm[sx](\d+)g", options)}
    assert len(heaps) <= 1
    assert all(2 * heap <= int(service["mem_limit"][:-1]) for heap in heaps)


@pytest.mark.parametrize(("name", "place"), STATEFUL.items())
def test_data_live_in_a_named_volume(name, place):
    (volume,) = SERVICES[name]["volumes"]
    named, _, inside = volume.partition(":")
    assert named in FILE["volumes"]
    assert inside == place


def test_each_engine_has_its_profile():
    profiles = {name: service["profiles"] for name, service in SERVICES.items()}
    assert profiles == {
        "opensearch": ["opensearch"],
        "opensearch-dashboards": ["opensearch"],
        "opensearch-plugin": ["plugin"],
        "elasticsearch": ["elasticsearch"],
        "kibana": ["elasticsearch"],
        "tika": ["tika"],
        "nearfold": ["nearfold"],
        "follower": ["follow"],
    }


@pytest.mark.parametrize("name", list(ENGINES))
def test_versions_are_those_the_tests_run(name):
    engine = (
        elasticsearch.engine(elasticsearch.NEWEST) if name == "elasticsearch" else ENGINES[name]
    )
    assert SERVICES[name]["image"] == engine.image


@pytest.mark.parametrize(
    ("name", "engine"), [("opensearch-dashboards", "opensearch"), ("kibana", "elasticsearch")]
)
def test_dashboards_match_their_engine(name, engine):
    assert SERVICES[name]["image"].rsplit(":", 1)[1] == SERVICES[engine]["image"].rsplit(":", 1)[1]
    assert SERVICES[name]["depends_on"] == {engine: {"condition": "service_healthy"}}


def test_missing_security_is_stated():
    assert "SECURITY IS OFF" in TEXT.split("services:")[0]
