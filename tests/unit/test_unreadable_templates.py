"""Index templates that cannot be read: only a missing right to read them is passed over."""

import pytest

from indexer.errors import StoreAccessDenied, StoreError, StoreUnreachable
from indexer.recipe import DEFAULT
from indexer.stores.engine.create_index import prepare
from indexer.stores.engine.index_facts import IndexAddress
from indexer.stores.engine.install import installation_problems
from indexer.stores.engine.opensearch import DIALECT
from indexer.stores.engine.requests import Requests, Response

PLACE = IndexAddress("opensearch://x/p", "p")
DENIED, BROKEN = 403, 500


class Cluster:
    """A cluster without indices, whose templates are answered by one status, or not at all."""

    def __init__(self, status):
        self.status = status
        self.created = []

    def request(self, method, path, body, params, seconds):
        if method == "PUT":
            self.created.append(path)
            return Response(200, {})
        if not path.startswith("_index_template"):
            return Response(404, {"error": {"type": "index_not_found_exception"}})
        if self.status is None:
            raise StoreUnreachable(url=PLACE.url, reason="timed out")
        return Response(self.status, {"error": {"type": "error", "reason": "no templates"}})


def test_who_may_not_read_templates_has_no_problems_and_gets_an_index():
    cluster = Cluster(DENIED)
    requests = Requests(cluster, PLACE.url)
    assert installation_problems(requests, PLACE) == []
    prepare(requests, PLACE, DIALECT, DEFAULT)
    assert cluster.created == ["p"]


@pytest.mark.parametrize("status", [BROKEN, None])
def test_another_failure_is_reported_and_creates_nothing(status):
    cluster = Cluster(status)
    requests = Requests(cluster, PLACE.url)
    for command in (
        lambda: installation_problems(requests, PLACE),
        lambda: prepare(requests, PLACE, DIALECT, DEFAULT),
    ):
        with pytest.raises(StoreError) as raised:
            command()
        assert not isinstance(raised.value, StoreAccessDenied)
    assert cluster.created == []
