"""Scale-out: `match` and `group` over Spark DataFrames, with the same result as on one machine.

    documents -> fingerprinted -> texts -> frequent bands -> near sketches -> pairs
                                                               -> families, clusters -> store

Each stage is kept as parquet in a work folder, so an interrupted run goes on after its last
complete stage. Python code runs in batches on the executors, by the functions that one machine
uses. See docs/spark.md.
"""
