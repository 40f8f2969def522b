"""Services of the process and the operating system: logs, traces, secrets, durable files,
failpoints.
"""
