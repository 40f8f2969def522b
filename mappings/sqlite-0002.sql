-- format 2: an index for the documents of a cluster, which are read when one of them is deleted

CREATE INDEX documents_by_cluster ON documents (cluster) WHERE cluster IS NOT NULL;
