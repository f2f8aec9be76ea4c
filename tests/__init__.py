"""Tests, one folder for each folder of the product; `support/` holds what they share."""
