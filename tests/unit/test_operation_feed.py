"""Marks of the last operation of each shard, as responses of an engine name them."""

from indexer.stores.engine.operation_feed import last_operations


def statistics(*copies):
    """Return the response to a request for the statistics of one shard."""
    return {"indices": {"papers": {"shards": {"0": list(copies)}}}}


class RecordedResponses:
    """The responses of an engine, in order; the last one again and again."""

    def __init__(self, *responses):
        self.responses = list(responses)

    def index(self, _name):
        return {"settings": {"index": {"number_of_shards": "1"}}}

    def call(self, _method, _path, params=None):
        return self.responses.pop(0) if self.responses[1:] else self.responses[0]


def test_a_primary_that_recovers_is_waited_for():
    recovering = {"routing": {"primary": True, "state": "INITIALIZING"}, "store": {}}
    started = {"routing": {"primary": True}, "seq_no": {"global_checkpoint": 7}}
    responses = RecordedResponses(statistics(recovering), statistics(started))
    assert last_operations(responses, "papers") == {"0": 7}
