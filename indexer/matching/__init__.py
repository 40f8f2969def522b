"""Near-duplicate pairs of a whole store: by bands, all of them, contained texts, and an audit."""
