"""SCIM 2.0: what an identity provider's directory says of an organization's people.

users.py and groups.py do it; queries.py filters, sorts and pages; resources.py turns rows into
scim2-models' resources and back, which parse, patch, match filters and write the documents.
Source: RFC 7643 (schemas), RFC 7644 (protocol).
"""
