"""What the table of docs/security.md says is held by a test is held by it: `make asvs`.

mutation.py    one break of a mechanism, and the test that has to fail for it
mutations/     the list, a file for some chapters of the ASVS
table.py       the lines of the table that name tests
__main__.py    applies each in a copy of the tree and runs its test
"""
