"""The journal of a store: failures to retry, the lock of the running job, the history of jobs."""
