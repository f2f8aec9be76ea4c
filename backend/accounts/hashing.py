"""Where passwords are hashed: argon2 takes 100 MiB and some 50 ms each time, by design, so it runs
in two threads of its own, whichever door the password came by."""

from backend.platform.bounded_threads import BoundedThreads

PASSWORD_THREADS = BoundedThreads("passwords", at_once=2, waiting=100)
