"""What the operator of an installation shows and asks of users."""

from typing import Annotated

from pydantic import Field

from backend.api.schemas.base import RequestModel, ResponseModel


class AnnouncementOut(ResponseModel):
    id: int
    title: str
    text: str
    link: str | None
    tone: str = Field(description="`info` or `warning`.")
    dismissible: bool


class AnnouncementListOut(ResponseModel):
    data: list[AnnouncementOut]


class TermsOut(ResponseModel):
    """A version of the terms that is to be accepted."""

    id: int
    name: str
    version: str
    summary: str
    link: str


class TermsAccept(RequestModel):
    versions: Annotated[list[int], Field(min_length=1, max_length=10)]
