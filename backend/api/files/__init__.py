"""OpenAI's files and uploads: what programs store for batches, and what batches give back.

- `rows`    files: written, listed, read, deleted; what is left half-written is purged
- `uploads` a file that comes in parts
- `objects` both as OpenAI shows them
- `paging`  lists of rows, by creation

A row exists before anything is stored, and says where it lies; so whatever dies, `purge_files`
finds it. Files are private to their user in their organization, and count against what its plan
may store.
"""
