"""OpenSearch and Elasticsearch behind the store interface: builders of bodies apart from
requests.
"""
