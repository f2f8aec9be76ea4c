"""One file a format: `read(data) -> Iterator[Passage]`, run in the child only."""
