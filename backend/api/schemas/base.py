"""The two bases of all schemas."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from backend.platform.bodies import MAX_ITEMS, JsonObject, RequestModel, Text, entries_at_most

__all__ = [
    "MAX_ITEMS",
    "Included",
    "JsonObject",
    "ModelName",
    "Name",
    "PageLimit",
    "PageToken",
    "RequestModel",
    "ResponseModel",
    "Text",
    "entries_at_most",
]


class ResponseModel(BaseModel):
    """An answer. Fields are always present; unknown values are null."""

    model_config = ConfigDict(from_attributes=True)


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
PageLimit = Annotated[int, Field(ge=1, le=100)]
PageToken = Annotated[str, Field(max_length=200)]
"""Where a page begins, as the one before said."""
Included = Annotated[str, Field(max_length=100)]
