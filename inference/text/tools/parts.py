"""What sampled text is made of where a model may call tools."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Content:
    """More text."""

    text: str


@dataclass(frozen=True)
class CallBegins:
    """The next call; its arguments follow."""

    name: str


@dataclass(frozen=True)
class Arguments:
    """More of the last call's arguments."""

    text: str


Part = Content | CallBegins | Arguments
