"""Whether anything crosses from one organization to another, over every route of the schema.

routes.py      valid bodies, and routes that are not like the others
belongings.py  one object of every kind
cast.py        callers of another organization: sessions of every role, keys of every scope
tries.py       a random request with the victim's ids in path, query, headers and body
walk.py        so many of them, and whether an answer or the victim's rows show a leak

test_walk.py   so many tries: 100, or as `make tenant-walk TRIES=10000` says
"""
