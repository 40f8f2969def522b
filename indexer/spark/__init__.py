"""Scale-out: the pairs, families and clusters of `match` and `group` over Spark DataFrames, with
the same result.

    documents -> signed -> texts -> bands -> candidates -> verified -> pairs; families, clusters -> store

Each stage is kept as parquet in a work folder, so a run that was cut short goes on after its last
whole stage. What is computed in Python runs in batches on the executors, by the functions that one
machine uses. See docs/spark.md.
"""
