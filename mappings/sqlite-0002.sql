-- format 2: who is in a cluster is asked when one of its documents goes

CREATE INDEX documents_by_cluster ON documents (cluster) WHERE cluster IS NOT NULL;
