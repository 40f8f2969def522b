"""The review pages of a store on a port of this machine."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.coding import label_names
from indexer.errors import UsageError
from indexer.jobs.review_file import review_file
from indexer.model import Query
from indexer.review.access import Access, Login, read_accounts
from indexer.review.api.comparisons import COMPARISON_READS, COMPARISON_WRITES
from indexer.review.api.documents import DOCUMENT_READS, FACETS
from indexer.review.api.labels import LABEL_WRITES
from indexer.review.api.saved_searches import SEARCHES_READS, SEARCHES_WRITES
from indexer.review.api.store import START_GROUP, STORE_READS
from indexer.review.api.work_list import WORK_LIST_READS, WORK_LIST_WRITES
from indexer.review.app import Api, application
from indexer.review.caches import BackgroundReader
from indexer.review.exports.hits import archive_route, hits_route
from indexer.review.http import listen
from indexer.review.middleware import DEFAULT_MEGABYTES
from indexer.review.safety import App, allowed_hosts, is_loopback
from indexer.review.site import MAX_LABELS, SearchLog, Site
from indexer.stores.abilities import CachesReads, FullStore
from indexer.stores.requirements import require_recipe

REVIEW_API = Api(
    {
        **DOCUMENT_READS,
        **COMPARISON_READS,
        **STORE_READS,
        **WORK_LIST_READS,
        **SEARCHES_READS,
    },
    {
        **LABEL_WRITES,
        **WORK_LIST_WRITES,
        **SEARCHES_WRITES,
        **COMPARISON_WRITES,
        "group": START_GROUP,
    },
    (hits_route, archive_route),
)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The address at which pages are served, and those who may see them.

    `port` 0 takes any free one. `originals`: the folder whose files may be fetched, None for none.
    `allow_hosts`: further names in `Host`. `auth`: the file of logins, `auth_header` the header by
    which a proxy on this machine names a user, `auth_secret` the file of what the proxy sends
    next to it, None for a proxy that sends none. `reviewer`: the name of everybody where nobody
    logs in. `labels`: those that keys choose between, nine at most; without any, those of the
    store. `matter`: the name of what is reviewed, shown in the header; it stays with the
    store. `tls`: the files of a certificate and of its key, None for plain HTTP. `memory`: the
    megabytes of resident memory beyond which the server discards what it keeps between requests.
    `search_log`: the days for which searches are kept in a log, None for no log; with `log_queries`
    their words are in it.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    originals: str | None = None
    allow_hosts: Collection[str] = ()
    auth: str | None = None
    auth_header: str = ""
    auth_secret: str | None = None
    reviewer: str = ""
    labels: Sequence[str] = ()
    matter: str = ""
    tls: tuple[str, str] | None = None
    memory: int = DEFAULT_MEGABYTES
    search_log: int | None = None
    log_queries: bool = False

    def access(self) -> Access:
        """Return who may log in.

        Off this machine, and under further names of `Host`, which a proxy serves to others,
        everybody must: without logins, by a new token. Raises `UsageError` for a file of logins
        that cannot be read or has none, and for a secret that is none.
        """
        accounts = read_accounts(Path(self.auth)) if self.auth is not None else {}
        if self.auth is not None and not accounts:
            raise UsageError(
                f"{self.auth} has no logins; run: nearfold serve --auth {self.auth} "
                "--add-login NAME"
            )
        is_alone = is_loopback(self.host) and not self.allow_hosts
        needs_token = not (accounts or self.auth_header or is_alone)
        token = secrets.token_urlsafe(18) if needs_token else ""
        return Access(accounts, self.auth_header, token, Login(self.reviewer), self._secret())

    def _secret(self) -> str:
        if self.auth_secret is None:
            return ""
        try:
            secret = Path(self.auth_secret).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{self.auth_secret} cannot be read ({error}); check the path"
            ) from error
        if not (secret and secret.isascii() and self.auth_header):
            raise UsageError(
                "--auth-secret takes a file with a line of ASCII text, and needs --auth-header"
            )
        return secret


DEFAULT_OPTIONS = ServeOptions()


def serve(
    store: FullStore,
    options: ServeOptions = DEFAULT_OPTIONS,
    ready: Callable[[str, str], None] = lambda _address, _password: None,
) -> None:
    """Serve the review pages of a store until Ctrl-C or SIGTERM.

    `ready` receives the address when the server responds, and the password for any name, empty
    without one. Raises `StoreError` when nothing was indexed yet, and `UsageError` for an address
    that cannot be bound, logins that cannot be read, or a folder of originals that does not exist,
    `UnsupportedOperation` for a log of searches of a store without an engine.
    """
    require_recipe(store)
    access = options.access()
    labels = label_names(options.labels)
    if len(labels) > MAX_LABELS:
        raise UsageError(f"at most {MAX_LABELS} labels can have keys; give fewer")
    if options.matter:
        review_file(store).name_matter(options.matter)
    if options.log_queries and options.search_log is None:
        raise UsageError("--log-queries is for --search-log; give both, or neither")
    log = SearchLog(store, options.search_log, options.log_queries) if options.search_log else None

    def app_at(bound_port: int) -> App:
        hosts = allowed_hosts(options.host, bound_port, options.allow_hosts)
        try:
            site = Site(store, options.originals, labels, options.matter, log)
        except FileNotFoundError as error:
            raise UsageError(
                f"{options.originals} does not exist; give the folder whose files may be fetched"
            ) from error
        BackgroundReader(lambda _progress: _read_ahead(site)).begin()
        return application(site, hosts, REVIEW_API, access, options.memory)

    def report(address: str) -> None:
        ready(address, access.token)

    listen(app_at, options.host, options.port, report, options.tls)


def _read_ahead(site: Site) -> None:
    """Read what the first pages show of the whole store, before somebody asks for them."""
    if isinstance(site.store, CachesReads):
        # before others read: a connection keeps what it read, and requests take the first one
        site.store.search(Query("", facets=FACETS, families=True))
        site.store.search(Query("", sort="newest"))
    site.offered_labels.begin()
    site.store.counts()
    if site.is_grouped:
        site.statistics_reader.begin()
        site.work_list_reader.begin()


def review_application(
    store: FullStore,
    hosts: frozenset[str],
    originals: str | None = None,
    access: Access | None = None,
    labels: Sequence[str] = (),
    megabytes: int = DEFAULT_MEGABYTES,
    matter: str = "",
    log: SearchLog | None = None,
) -> App:
    """Return the review pages and their API as an ASGI application.

    `hosts` are the values of `Host` that are answered; files are served from the folder
    `originals`, none without it; without `access` nobody logs in; `labels` and `matter` as in
    `ServeOptions`, `megabytes` as `memory` there; `log` receives the searches. Raises
    `FileNotFoundError` if that folder does not exist.
    """
    site = Site(store, originals, labels, matter, log)
    site.offered_labels.begin()
    return application(site, hosts, REVIEW_API, access or Access(), megabytes)
