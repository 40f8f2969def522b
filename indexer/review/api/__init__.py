"""The JSON API: one module a resource, with the models of its parameters and responses."""
