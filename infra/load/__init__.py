"""Load and fault tests, and the servers that they need."""
