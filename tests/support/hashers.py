"""Argon2 as the product uses it, with the least that it can cost."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class CheapArgon2PasswordHasher(Argon2PasswordHasher):
    time_cost = 1
    memory_cost = 8  # KiB
    parallelism = 1
