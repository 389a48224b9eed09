"""Learning from a source: rows that come in batches."""
