"""Ninja's renderer, on the one encoder of JSON."""

from typing import Any

from django.http import HttpRequest
from ninja.renderers import BaseRenderer

from backend.platform.json import encode_json


class JSONRenderer(BaseRenderer):
    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return encode_json(data)
