"""Clients of an engine that write beside nearfold, in random order, and three invariants.

A step is a request of a client (an index, an update, a deletion, a copy to another index, a
restored snapshot), a command of nearfold, or both at once; either may be killed. After each step
the stored documents are read as the engine, or the file, has them, and compared by brute force:

- no document is hidden under one that it does not resemble, in any search of nearfold, nor in one
  of a client that folds by the field of the engine's plugin, where an index has it;
- every document is shown or folded, once, and every group has a principal that is visible;
- what `doctor` and `status` call good is good: else the stored groups hold, for any client.

On an embedded store, whose only writer is nearfold, the commands and the kills remain. A seed
repeats the steps; how far a killed process came depends on the machine.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from jobs import SECONDS, JobRunner, Step
from long_run import FAILPOINTS, FAILPOINTS_OF_STORES
from planned_operations import Operation, Planner
from sample_library import edited, sentence, similarity
from servers.process import Server

from indexer.defaults import FOLD
from indexer.errors import StoreError
from indexer.fingerprinting.fingerprint import fingerprint_rows, fresh_rows, ungrouped
from indexer.jobs.arrival import FollowPass, SeenWrites, follow_once
from indexer.jobs.doctor import doctor
from indexer.jobs.status import status
from indexer.model import Row
from indexer.recipe import Recipe
from indexer.searching.search import SearchOptions, search
from indexer.stores import open_store
from indexer.stores.abilities import FullStore
from indexer.stores.engine.field_substitutes import column_digest
from indexer.stores.engine.index_mapping import GROUPED
from indexer.stores.engine.rows import row_of_hit
from indexer.stores.maintenance import Layout

Body: TypeAlias = dict[str, Any]
KILLED, TOGETHER, NODE_KILLED, FOLLOWED = 0.3, 0.5, 0.02, 0.1  # of the steps, where they may be
DELAY = 0.8  # seconds from what a command reads to what it writes, in which a client writes
MAX_DOCUMENTS = 60
REFUSED_CODES = (0, 1, 2, 3, 4)  # whatever is no internal error
LEAST = 0.7  # of all thresholds of `group`, by which a copy may have been grouped
REPORTS = {"keys", "changes", "groups"}  # checks of `doctor` that stored groups may fail
GREEN_SECONDS = 300
RESTORES = 8  # attempts to restore a snapshot, until a command makes no index of its name
TEXTS = 5  # from which others are made


@dataclass
class Counts:
    """How often each kind of step was taken, and how each ended."""

    clients: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    reported: int = 0  # states in which stored groups did not hold, as doctor or status said

    def add(self, other: Counts) -> None:
        """Add the counts of another run."""
        for name in ("clients", "commands", "refused", "kills", "nodes"):
            getattr(self, name).update(getattr(other, name))
        self.reported += other.reported

    def __str__(self) -> str:
        parts = {
            "requests of clients": self.clients,
            "commands": self.commands,
            "refused": self.refused,
            "commands killed": self.kills,
            "nodes killed": self.nodes,
        }
        lines = []
        for name, kinds in parts.items():
            each = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
            lines += [f"{kinds.total()} {name} ({each})"] if kinds else []
        return "; ".join([*lines, f"{self.reported} states that doctor reported"])


class Nodes:
    """The nodes of a cluster that several runs share: one kills them, and none checks meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._checks, self._is_killed = 0, False

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Wait for all nodes, and keep them."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_killed)
            self._checks += 1
        try:
            yield
        finally:
            with self._changed:
                self._checks -= 1
                self._changed.notify_all()

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Wait for the checks that run, and let none begin."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_killed)
            self._is_killed = True
            self._changed.wait_for(lambda: not self._checks)
        try:
            yield
        finally:
            with self._changed:
                self._is_killed = False
                self._changed.notify_all()


class Client:
    """Another program that writes to the index that a name stands for."""

    def __init__(self, servers: Sequence[str], index: str, chance: random.Random) -> None:
        self.servers, self.index, self.chance = servers, index, chance
        self.copies = 0
        self.repository = f"nearfold-faults-{index}"
        self.snapshot: str | None = None
        self.kinds: list[Callable[[], str | None]] = [
            *(self._index, self._index, self._index_without_id, self._update, self._bulk_texts),
            *(self._bulk_texts, self._bulk_texts, self._bulk_others, self._delete, self._swap),
            *(self._delete_by_query, self._update_by_query, self._update_texts_by_query),
            *(self._copy, self._roll_over),
        ]
        if len(servers) == 1:  # nodes of a test share no folder of snapshots
            self.kinds += [self._take_snapshot, self._restore]

    def hits(self) -> list[Body]:
        """Return the documents, as the engine has them after a refresh."""
        self.call("POST", f"{self.index}/_refresh")
        query = {"size": 1_000, "seq_no_primary_term": True}
        return list(self.call("POST", f"{self.index}/_search", query)["hits"]["hits"])

    def act(self) -> str:
        """Send a request of a random kind; return its name."""
        while True:
            kind = self.chance.choice(self.kinds)
            try:
                name = kind()
            except urllib.error.HTTPError as error:
                with error:
                    name = f"{kind.__name__.strip('_')}, refused with {error.code}"
            except OSError:  # its node was killed
                name = f"{kind.__name__.strip('_')}, lost"
            if name is not None:
                return name

    def call(self, method: str, path: str, body: Body | list[Body] | None = None) -> Body:
        """Return the response to a request."""
        lines = body if isinstance(body, list) else [] if body is None else [body]
        kind = "x-ndjson" if isinstance(body, list) else "json"
        headers = {"Content-Type": f"application/{kind}"}
        request = urllib.request.Request(
            f"{self._server()}/{path}", _lines(lines) or None, headers, method=method
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            answer: Body = json.load(response)
        return answer

    def _server(self) -> str:
        """Return the address of a node that answers."""
        for server in self.servers[:-1]:
            try:
                urllib.request.urlopen(server, timeout=10).close()
            except urllib.error.HTTPError as error:  # Elasticsearch without its module of versions
                error.close()
            except OSError:
                continue
            return server
        return self.servers[-1]

    def _send(self, lines: list[Body], name: str) -> str:
        """Send a bulk request; now and then the client is killed before it has the response."""
        path = f"{self.index}/_bulk?refresh=true"
        if self.chance.random() > KILLED:
            self.call("POST", path, lines)
            return name
        data = _lines(lines)
        address = urlsplit(self._server())
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
        connection.putrequest("POST", f"/{path}")
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data[: self.chance.choice([len(data), len(data) // 2])])
        connection.close()
        time.sleep(0.2)  # what the engine received it may still be working on
        return f"{name}, killed"

    def has_plugin(self) -> bool:
        """Return whether all nodes have the field type `near_duplicate`."""
        nodes = self.call("GET", "_nodes/plugins")["nodes"].values()
        return all("nearfold" in {plugin["name"] for plugin in node["plugins"]} for node in nodes)

    def add_field(self) -> None:
        """Add the field `text.near` to the index, and write its documents again."""
        (facts,) = self.call("GET", f"{self.index}/_mapping").values()
        text = facts["mappings"]["properties"]["text"]
        text["fields"] = {**text.get("fields", {}), "near": {"type": "near_duplicate"}}
        self.call("PUT", f"{self.index}/_mapping", {"properties": {"text": text}})
        self._update_by_query()

    def folded(self) -> list[Body]:
        """Return all hits, folded by the plugin: each is shown, or says under which it is."""
        fold = {"field": "text.near", "minimum_similarity": FOLD, "max_members": 1_000}
        body: Body = {"size": 1_000, "docvalue_fields": ["text.near.exact"]}
        body["rescore"] = {"window_size": 1_000, "near_fold": fold}
        return list(self.call("POST", f"{self.index}/_search", body)["hits"]["hits"])

    def text(self) -> str:
        """Return a text that resembles few, many or all words of others."""
        known = sentence(self.chance.randrange(TEXTS), 30)
        return edited(known, self.chance.choice([0, 0, 1, 2, 4, 8, 30]), f"w{self.chance.random()}")

    def _some(self, most: int) -> list[Body]:
        hits = self.hits()
        return self.chance.sample(hits, min(len(hits), self.chance.randint(1, most)))

    def _index(self) -> str | None:
        hits = self.hits()
        if len(hits) > MAX_DOCUMENTS:
            return None
        new = {"_id": f"c{self.chance.random()}", "_index": self.index, "_source": {}}
        hit = self.chance.choice([new, *hits])
        path = hit["_source"].get("path", f"/clients/{hit['_id']}")
        document = {"text": self.text(), "path": path}
        self.call("PUT", f"{self._index_of(hit)}/_doc/{hit['_id']}?refresh=true", document)
        return "index"

    def _index_without_id(self) -> str | None:
        if len(self.hits()) > MAX_DOCUMENTS:
            return None
        lines: list[Body] = []
        for _ in range(self.chance.randint(1, 4)):
            lines += [{"index": {}}, {"text": self.text(), "title": "from a client"}]
        return self._send(lines, "bulk index")

    def _update(self) -> str:
        name = self.chance.choice(["text", "title"])
        for hit in self._some(1):
            change = {"doc": {name: self.text()}}
            self.call("POST", f"{self._index_of(hit)}/_update/{hit['_id']}?refresh=true", change)
        return f"_update of {name}"

    def _bulk_texts(self) -> str:
        return self._bulk("text")

    def _bulk_others(self) -> str:
        return self._bulk("title")

    def _bulk(self, name: str) -> str:
        lines: list[Body] = []
        for hit in self._some(4):
            lines += [{"update": self._target(hit)}, {"doc": {name: self.text()}}]
        return self._send(lines, f"bulk update of {name}") if lines else f"no update of {name}"

    def _swap(self) -> str:
        """Exchange the texts of two documents, by a bulk update."""
        hits = self._some(2)
        texts = [hit["_source"].get("text", "") for hit in reversed(hits)]
        lines: list[Body] = []
        for hit, text in zip(hits, texts, strict=True):
            lines += [{"update": self._target(hit)}, {"doc": {"text": text}}]
        return self._send(lines, "bulk exchange of texts") if lines else "no exchange"

    def _delete(self) -> str:
        lines: list[Body] = [{"delete": self._target(hit)} for hit in self._some(2)]
        return self._send(lines, "delete") if lines else "no delete"

    def _delete_by_query(self) -> str:
        ids = [hit["_id"] for hit in self._some(2)]
        query = {"query": {"ids": {"values": ids}}}
        self.call("POST", f"{self.index}/_delete_by_query?refresh=true&conflicts=proceed", query)
        return "_delete_by_query"

    def _update_by_query(self) -> str:
        path = f"{self.index}/_update_by_query?refresh=true&conflicts=proceed"
        self.call("POST", path, {"query": {"match_all": {}}})
        return "_update_by_query"

    def _update_texts_by_query(self) -> str:
        ids = [hit["_id"] for hit in self._some(3)]
        script = {"source": "ctx._source.text = params.text", "params": {"text": self.text()}}
        path = f"{self.index}/_update_by_query?refresh=true&conflicts=proceed"
        self.call("POST", path, {"query": {"ids": {"values": ids}}, "script": script})
        return "_update_by_query of texts"

    def _copy(self) -> str:
        """Copy the index to another one, with its mapping and pipeline, and move the name to it."""
        indices = self.call("GET", self.index)
        facts, *_ = indices.values()
        self.copies += 1
        name = f"{self.index}-copy{self.copies}"
        body = _like(facts)
        pipeline = body["settings"].get("default_pipeline", "_none")
        self.call("PUT", name, body)
        source = {"index": ",".join(indices)}
        destination = {"index": name, "pipeline": self.chance.choice(["_none", pipeline])}
        path = "_reindex?refresh=true"
        self.call("POST", path, {"source": source, "dest": destination})
        moves: list[Body] = [{"remove_index": {"index": index}} for index in indices]
        moves.append({"add": {"index": name, "alias": self.index}})
        self.call("POST", "_aliases", {"actions": moves})
        return "_reindex and alias switch"

    def _roll_over(self) -> str | None:
        """Begin another index behind the name, where it is an alias; the next copy merges them."""
        indices = self.call("GET", self.index)
        ((old, facts), *others) = indices.items()
        if others or old == self.index:
            return None
        self.copies += 1
        name = f"{self.index}-roll{self.copies}"
        write = {"index": old, "alias": self.index, "is_write_index": True}
        self.call("POST", "_aliases", {"actions": [{"add": write}]})
        self.call("POST", f"{self.index}/_rollover/{name}", _like(facts))
        return "rollover"

    def _take_snapshot(self) -> str:
        repository = {"type": "fs", "settings": {"location": self.repository}}
        self.call("PUT", f"_snapshot/{self.repository}", repository)
        name = f"{self.index}-{self.copies}-{self.chance.randrange(1_000_000)}"
        indices = ",".join(self.call("GET", self.index))
        body = {"indices": indices, "include_global_state": False}
        self.call("PUT", f"_snapshot/{self.repository}/{name}?wait_for_completion=true", body)
        self.snapshot = name
        return "snapshot"

    def _restore(self) -> str | None:
        """Put the documents of a snapshot in the place of those of now."""
        if self.snapshot is None:
            return None
        snapshot = f"_snapshot/{self.repository}/{self.snapshot}"
        path = f"{snapshot}/_restore?wait_for_completion=true"
        (content,) = self.call("GET", snapshot)["snapshots"]
        names = ",".join([self.index, *content["indices"]])  # one may have lost the name since
        self.snapshot = None
        for attempts_left in reversed(range(RESTORES)):
            try:
                for name in self.call("GET", f"{names}?ignore_unavailable=true"):
                    self.call("DELETE", name)
                self.call("POST", path, {"include_global_state": False})
                break
            except urllib.error.HTTPError as error:  # nearfold has made the index meanwhile
                if not attempts_left:
                    raise
                error.close()
                time.sleep(DELAY)
        return "restore of a snapshot"

    def _target(self, hit: Body) -> Body:
        return {"_id": hit["_id"], "_index": hit["_index"]}

    def _index_of(self, hit: Body) -> str:
        return str(hit["_index"])


def _lines(bodies: Iterable[Body]) -> bytes:
    return "".join(f"{json.dumps(body)}\n" for body in bodies).encode()


def _like(facts: Body) -> Body:
    """Return the body of a new index with the mapping and the settings of another one."""
    own = ("uuid", "creation_date", "version", "provided_name", "resize", "blocks", "routing")
    settings = facts["settings"]["index"]
    return {
        "mappings": facts["mappings"],
        "settings": {name: value for name, value in settings.items() if name not in own},
    }


class SharedPlanner(Planner):
    """A planner of commands that knows of `install`, and not what a store must hold after."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kinds = [
            *(self._add, self._change, self._prune, self._delete, self._check, self._label),
            *(self._group, self._group, self._reindex, self._doctor, self._doctor),
        ]
        if self.has_copies:
            self.kinds += [self._backup, self._restore]
        else:
            self.kinds += [self.install, self.install, self._uninstall]

    def install(self, *options: str) -> Operation:
        """Return the command that lets clients send documents."""
        return Operation(("install", *options), self.planned)

    def _uninstall(self) -> Operation:
        return Operation(("uninstall",), self.planned)


@dataclass
class SharedRun:
    """A store that nearfold and, in an engine, other clients write to, in steps of a seed; `nodes`
    are killed now and then, and started again.

    `layout`: of the index; where all nodes have the plugin, one with the pipeline's layout gets the
    plugin's field as well.
    """

    home: Path
    url: str
    seed: str
    nodes: Sequence[Server] = ()
    say: Callable[[str], None] = lambda _: None
    layout: Layout = "pipeline"
    shared: Nodes = field(default_factory=Nodes)

    def __post_init__(self) -> None:
        scheme, _, rest = self.url.partition("://")
        self.chance = random.Random(self.seed)
        self.planner = SharedPlanner(self.home, self.chance, has_copies=scheme == "sqlite")
        self.points_of_store = FAILPOINTS_OF_STORES[scheme]
        self.failpoints = (*FAILPOINTS, *self.points_of_store)
        self.client: Client | None = None
        if scheme != "sqlite":
            hosts, _, index = rest.partition("?")[0].rpartition("/")
            servers = [f"http://{host}" for host in hosts.split(",")]
            self.client = Client(servers, index, self.chance)
        self.counts = Counts()
        self.threshold = FOLD  # the least by which stored groups were made
        self.has_field = False
        self.steps = 0
        self.seen = SeenWrites()

    def run(self, steps: int, until: float = float("inf")) -> Counts:
        """Take so many steps; raise `AssertionError` for what does not hold after one."""
        step = "first index"
        if time.monotonic() > until:
            return self.counts
        with closing(JobRunner(self.home)) as jobs:
            try:
                self._begin(jobs)
                while self.steps < steps and time.monotonic() < until:
                    self.steps += 1
                    step = self._step(jobs)
                    self.say(f"{self.steps:6} {step}")
                    with self.shared.checked():
                        self._check()
            except Exception as error:
                place = f"seed {self.seed} step {self.steps} ({step})"
                raise AssertionError(f"{place}: {error}") from error
        return self.counts

    def _begin(self, jobs: JobRunner) -> None:
        """Make the index; from then on texts are expected to change."""
        if self.layout == "plugin":
            self._command(jobs, self.planner.install("--layout", self.layout), alone=True)
        self._command(jobs, self.planner.first()[0], alone=True)
        if self.client is None:
            return
        if self.layout == "pipeline":
            self._command(jobs, self.planner.install(), alone=True)
        self.has_field = self.client.has_plugin()
        if self.has_field and self.layout == "pipeline":
            self.client.add_field()

    def _step(self, jobs: JobRunner) -> str:
        """Let a client, a command or both write, perhaps while a node of three is away."""
        if not self.nodes or self.chance.random() > NODE_KILLED:
            return self._write(jobs)
        node = self.chance.choice(self.nodes)
        name = f"node {self.nodes.index(node) + 1}"
        with self.shared.killed():
            node.kill()
            self.counts.nodes[name] += 1
            try:
                return f"{name} is killed: {self._write(jobs)}"
            finally:
                node.start()
                self._wait_for_replicas()

    def _wait_for_replicas(self) -> None:
        assert self.client is not None
        until = time.monotonic() + GREEN_SECONDS
        while self.client.call("GET", "_cluster/health")["status"] != "green":
            assert time.monotonic() < until, "a shard has no replica"
            time.sleep(0.5)

    def _write(self, jobs: JobRunner) -> str:
        if self.client is not None and self.chance.random() < FOLLOWED:
            return self._follow(self.client)
        if self.client is not None and self.chance.random() < 0.5:
            return self._client_acts(self.client)
        (operation,) = self.planner.choose(1)
        return self._command(jobs, operation)

    def _client_acts(self, client: Client) -> str:
        name = client.act()
        if "restore" in name:
            self.threshold = LEAST
        self.counts.clients[name] += 1
        return name

    def _follow(self, client: Client) -> str:
        """Let a follower go on where it was until it finds nothing; then stored groups hold."""
        self.threshold = min(self.threshold, FOLD)
        with closing(open_store(self.url)) as store:
            try:
                done = FollowPass(placed=1)
                while done.placed or done.compared:
                    self.seen.pause_until = 0
                    done = follow_once(store, seen=self.seen)
            except StoreError as error:  # of several indices behind a name, or one in restoration
                self.counts.refused["follow"] += 1
                return f"follow: {error}"
            self.counts.commands["follow"] += 1
            rows = self._rows(store, client.hits())
            problems = stored_problems(rows, store.stored_recipe(), self.threshold)
        assert problems == [], f"after the follower: {problems}"
        return "follow"

    def _command(self, jobs: JobRunner, operation: Operation, alone: bool = False) -> str:
        """Run a command; now and then it is killed, or a client writes meanwhile."""
        words = operation.words
        if words[0] == "group":
            self.threshold = min(self.threshold, operation.expected.threshold)
        elif words[0] == "restore":
            self.threshold = LEAST
        together = not alone and self.client is not None and self.chance.random() < TOGETHER
        failpoints = "" if alone else self._failpoints(words[0], together)
        step = Step((*words, "--store", self.url), operation.files, failpoints)
        job = jobs.start_steps([step])
        described = words[0]
        if together and self.client is not None:
            described += f" beside {self._client_acts(self.client)}"
        code, results = jobs.wait_steps(job, SECONDS)
        if not results:
            assert code < 0, f"{words}: the process ended with {code}"
            self.counts.kills[words[0]] += 1
            return f"{described}, killed at {failpoints}"
        (result,) = results
        assert result.code in REFUSED_CODES and "Traceback" not in result.err, (
            f"{words}: exit {result.code}\n{result.err}"
        )
        (self.counts.refused if result.code > 1 else self.counts.commands)[words[0]] += 1
        if words[0] == "group" and result.code == 0 and not together:
            self.threshold = operation.expected.threshold
            self._check_groups_are_final()
        reason = result.err.strip()[:200] if result.code > 1 else ""
        return f"{described}: exit {result.code} {reason}".strip()

    def _failpoints(self, command: str, together: bool) -> str:
        """Return where a command is killed, or waits for a client before it sends what it read;
        mostly empty.
        """
        if self.chance.random() < KILLED:
            has_files = command in ("index", "check")
            point = self.chance.choice(self.failpoints if has_files else self.points_of_store)
            return f"{point}:{self.chance.choice([1, 1, 2, 3] if has_files else [1, 1, 2])}=kill"
        if together and self.chance.random() < 0.5:
            return f"before_send:{self.chance.randint(1, 2)}=delay:{DELAY}"
        return ""

    def _check_groups_are_final(self) -> None:
        """Check that `group` leaves nothing to report."""
        hits = self.client.hits() if self.client else []
        with closing(open_store(self.url)) as store:
            rows = self._rows(store, hits)
            problems = stored_problems(rows, store.stored_recipe(), self.threshold)
        assert problems == [], f"after group: {problems}"

    def _check(self) -> None:
        """Check a state; one that the request of a killed client still changes is another one."""
        while True:
            hits = self.client.hits() if self.client else []
            try:
                return self._check_state(hits)
            except AssertionError:
                if self.client is None or versions(self.client.hits()) == versions(hits):
                    raise

    def _check_state(self, hits: Sequence[Body]) -> None:
        with closing(open_store(self.url)) as store:
            rows = self._rows(store, hits)
            self.planner.rows = {row.path: row for row in rows}
            recipe = store.stored_recipe()
            changed = _changed_rows(rows, hits, recipe)
            for fold in ("family", "live"):
                check_search(store, rows, fold, self.threshold, changed)
            if self.client is not None and self.has_field:
                check_field(hits, self.client.folded())
            problems = stored_problems(rows, recipe, self.threshold)
            if not problems:
                return
            bad = {check.name for check in doctor(self.url) if check.verdict == "bad"}
            is_reported = bad & REPORTS or status(store).without_principal
            assert is_reported, f"doctor reports {bad}, not: {problems}"
            self.counts.reported += 1

    def _rows(self, store: FullStore, hits: Sequence[Body]) -> list[Row]:
        """Return the documents as they are stored; those of an engine are `hits` of the client."""
        if self.client is None:
            return list(store.scan())
        if self.layout == "plugin":
            rows = _rows_of_columns(hits, store.stored_recipe())
        else:
            rows = [row_of_hit(hit["_id"], hit["_source"]) for hit in hits]
        return [row for row in rows if row.parent is None]


def run_together(
    runs: Sequence[SharedRun], steps: int, together: int, until: float = float("inf")
) -> tuple[Counts, list[str]]:
    """Take so many steps in each run, so many runs at a time, all on indices of their own; return
    their counts, and what did not hold: a run ends with that, and the next one begins.
    """
    counts, failed = Counts(), []

    def take(run: SharedRun) -> None:
        try:
            run.run(steps, until)
        except AssertionError as error:
            failed.append(str(error))
            run.say(f"does not hold: {error}")

    with ThreadPoolExecutor(together) as pool:
        list(pool.map(take, runs))
    for run in runs:
        counts.add(run.counts)
    return counts, failed


def versions(hits: Sequence[Body]) -> set[tuple[str, int]]:
    """Return which version each document has."""
    return {(hit["_id"], hit["_seq_no"]) for hit in hits}


def _rows_of_columns(hits: Sequence[Body], recipe: Recipe | None) -> list[Row]:
    """Return documents with the fingerprints of their texts, which `check_field` compares with
    those that the plugin has, in the groups that are stored; without one, in that of their copies.
    """
    assert recipe is not None
    rows = fingerprint_rows([row_of_hit(hit["_id"], hit["_source"]) for hit in hits], recipe)
    return [
        row if hit["_source"].get("near_family") else ungrouped(row)
        for row, hit in zip(rows, hits, strict=True)
    ]


def resembles(row: Row, principal: Row, threshold: float) -> bool:
    """Return whether two texts are equal or similar at a threshold."""
    return row.text == principal.text or similarity(row.text, principal.text) >= threshold - 1e-9


def _changed_rows(rows: list[Row], hits: Sequence[Body], recipe: Recipe | None) -> set[str]:
    """Return the documents whose text is another one than what their group was made for."""
    assert recipe is not None
    digests = {hit["_id"]: hit["_source"].get(GROUPED) for hit in hits}
    changed = {row.id for row, fresh in fresh_rows(rows, recipe) if fresh is not row}
    return changed | {
        row.id for row in rows if digests.get(row.id) not in (None, column_digest(row.exact))
    }


def check_search(
    store: FullStore, rows: Iterable[Row], fold: str, threshold: float, changed: Collection[str]
) -> None:
    """Check that a search shows or folds each document once, under one that it resembles.

    Others of the group of a document that is gone, or one of the `changed`, resemble what it was.
    """
    by_id = {row.id: row for row in rows}
    threshold = FOLD if fold == "live" else threshold
    page = search(store, "", SearchOptions(fold=fold, limit=1_000))  # type: ignore[arg-type]
    found = Counter(id for hit in page.hits for id in (hit.id, *(copy.id for copy in hit.folded)))
    assert found == dict.fromkeys(by_id, 1), (
        f"--fold {fold}: missing {sorted(by_id.keys() - found)}, "
        f"not once {[id for id, times in found.items() if times > 1]}"
    )
    for hit in page.hits:
        if not hit.folded:
            continue
        members = [by_id[hit.id], *(by_id[copy.id] for copy in hit.folded)]
        centres, least = members[:1], threshold
        if fold == "family":
            principal = by_id.get(members[0].family)
            centres = [*members, principal] if principal else members
            is_there = principal is not None and principal.family == principal.id
            if not is_there or members[0].family in changed:
                least = 2 * threshold - 1
        assert any(
            all(resembles(member, centre, least) for member in members) for centre in centres
        ), f"--fold {fold}: {[(row.id, row.family, row.text[-40:]) for row in members]}"


def check_field(hits: Iterable[Body], folded: Sequence[Body]) -> None:
    """Check that the plugin's field folds each document once, under one that it resembles, and that
    its columns are those of the text: equal texts have equal keys.
    """
    texts = {hit["_id"]: hit["_source"].get("text", "") for hit in hits}
    found = Counter(hit["_id"] for hit in folded)
    assert found == dict.fromkeys(texts, 1), f"near_fold: {found}, not once each of {list(texts)}"
    texts_of_keys: dict[str, set[str]] = defaultdict(set)
    for hit in folded:
        text = texts[hit["_id"]]
        texts_of_keys[hit["fields"]["text.near.exact"][0]].add(text)
        under = hit["fields"]["near_fold"][0].get("folded_under")
        if under is not None and texts[under] != text:
            alike = similarity(text, texts[under])
            assert alike >= FOLD - 1e-9, f"near_fold: {alike} of {text!r} and {texts[under]!r}"
    keys = [*texts_of_keys.values()]
    assert len(keys) == len(set(texts.values())) == len(set().union(*keys)), f"keys: {keys}"


def stored_problems(rows: list[Row], recipe: Recipe | None, threshold: float) -> list[str]:
    """Return what does not hold of stored keys and groups, for any client that collapses on
    `near_family` or looks at principals alone.
    """
    assert recipe is not None
    problems = [
        f"{row.id} has keys of another text"
        for row, fresh in fresh_rows(rows, recipe)
        if fresh is not row
    ]
    by_id = {row.id: row for row in rows}
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.family].append(row)
    for name, members in groups.items():
        if all(row.principal is False for row in members):
            problems.append(f"no member of the group {name} is visible as its principal")
        centre = by_id.get(name, members[0])
        if centre not in members:
            problems.append(f"the principal of {name} is in the group {centre.family}")
        problems += [
            f"{row.id} is in the group of {centre.id}, which it does not resemble"
            for row in members
            if not resembles(row, centre, threshold)
        ]
    return problems
