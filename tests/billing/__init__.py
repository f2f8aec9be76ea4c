"""Tests of billing, against the run's own PostgreSQL, Valkey and broker."""
