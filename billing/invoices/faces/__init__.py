"""Fonts of which documents embed the characters that they have: Noto, under the OFL."""
