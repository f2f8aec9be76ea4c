"""The web process: Django for HTTP, Channels for WebSocket, and the gateway's own tasks."""

import gc
import os
from typing import Any, cast

# What is imported stays: to look for garbage in it, again and again, is a fifth of a start.
gc.disable()

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
# The post-classifier's products are tiny: BLAS threads would spend more on waiting for each other
# than on them (62 % of a core for one stream, against 6 %). NumPy reads this when first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import django  # noqa: E402
from django.conf import settings  # noqa: E402

django.setup(set_prefix=False)

# Imported only now: these touch models, which need the application registry.
from channels.routing import ProtocolTypeRouter  # noqa: E402

from backend.api.application import generation_paths  # noqa: E402
from backend.api.asgi import RequestGuard  # noqa: E402
from backend.api.batches.loop import batch_loops  # noqa: E402
from backend.api.body_doors import door_for  # noqa: E402
from backend.api.handler import Handler  # noqa: E402
from backend.api.proxies import ForwardedClient, proxies_from  # noqa: E402
from backend.api.request_logs.loop import request_log_loops  # noqa: E402
from backend.api.tool_rounds import tool_loops  # noqa: E402
from backend.api.turn_claims import turn_loops  # noqa: E402
from backend.api.websocket import websocket_application  # noqa: E402
from backend.generation.lifespan import with_gateway  # noqa: E402

application = with_gateway(
    ForwardedClient(
        ProtocolTypeRouter(
            {
                "http": RequestGuard(cast(Any, Handler()), generation_paths(), door_for),
                "websocket": websocket_application,
            }
        ),
        proxies_from(settings.TRUSTED_PROXIES),
    ),
    lambda gateway: {
        **batch_loops(gateway),
        **request_log_loops(gateway),
        **tool_loops(gateway),
        **turn_loops(gateway),
    },
)

gc.enable()
