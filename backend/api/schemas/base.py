"""The two bases of all schemas."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints


class RequestModel(BaseModel):
    """A request body: no coercion of types, no unknown fields; both are a 400 that names it."""

    model_config = ConfigDict(strict=True, extra="forbid")


class ResponseModel(BaseModel):
    """An answer. Fields are always present; unknown values are null."""

    model_config = ConfigDict(from_attributes=True)


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=100)]
PageLimit = Annotated[int, Field(ge=1, le=100)]
