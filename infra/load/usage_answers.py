"""What the doors of usage and costs answer, as the figures that `infra.load.usage` compares."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

Figures = dict[str, tuple[Any, ...]]
"""By group: tokens and costs."""


def read_total(answer: Any) -> Figures:
    return {"": _figures_of(answer)}


def read_rows(answer: Any) -> Figures:
    return {row["key"]: _figures_of(row) for row in answer["data"] if row["input_tokens"]}


def _figures_of(row: Any) -> tuple[Any, ...]:
    tokens = (row["input_tokens"], row["cached_input_tokens"], row["output_tokens"])
    return (*tokens, Decimal(row["cost"]))


def read_buckets(layout: str, *groups: str) -> Callable[[Any], Figures]:
    def read(answer: Any) -> Figures:
        assert not answer["has_more"]
        return {
            " ".join([_moment(bucket, layout), *(result[name] or "" for name in groups)]): (
                result["num_model_requests"],
                result["input_tokens"],
                result["input_cached_tokens"],
                result["output_tokens"],
            )
            for bucket in answer["data"]
            for result in bucket["results"]
        }

    return read


def read_costs(answer: Any) -> Figures:
    """OpenAI's amounts are JSON numbers, so they are compared to the cent."""
    return {
        _moment(bucket, "%Y-%m-%d"): (round(Decimal(result["amount"]["value"]), 2),)
        for bucket in answer["data"]
        for result in bucket["results"]
    }


def _moment(bucket: Any, layout: str) -> str:
    return datetime.fromtimestamp(bucket["start_time"], UTC).strftime(layout)
