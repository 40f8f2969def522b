"""Services of the process and the operating system: logs, traces, secrets, durable files, memory,
failpoints; and what recipes read of files: approved passages, corpus statistics.
"""
