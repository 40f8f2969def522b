"""The review pages and their JSON API: a thin layer over the use-cases, safe by default.

request -> safety -> question -> use-case -> answer -> page or JSON
"""
