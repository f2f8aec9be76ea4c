"""What a web process of a product imports and loads before it serves, and with it what the others
import; once, where all of them are forked from (tests/support/forkserver.py)."""

import backend.asgi
import backend.urls  # noqa: F401
from safety.score.detect import warm_up

warm_up()
