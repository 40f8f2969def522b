"""Real servers for the tests: OpenSearch, Elasticsearch and Tika, each from the first of three
places that has it.

1. a URL in the environment (`NEARFOLD_TEST_OPENSEARCH`, `NEARFOLD_TEST_ELASTICSEARCH`,
`NEARFOLD_TEST_TIKA`); 2. a container, where a Docker engine answers; 3. jars from Maven, kept in a
cache folder outside the checkout (`NEARFOLD_SERVERS`).

`python -m servers --help`, run in the folder `tests`, starts them by hand.
"""
