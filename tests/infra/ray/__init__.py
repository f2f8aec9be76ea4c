"""Engines on Ray. What starts a cluster is in `test_cluster.py`: `make test-ray`."""
