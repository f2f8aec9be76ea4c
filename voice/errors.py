"""What a caller did wrong, or what is missing here; server.py makes an answer of it."""


class VoiceError(Exception):
    """
    Attributes:
        param: the request's field, in OpenAI's words.
        status: of the HTTP answer: 400 for the caller's mistakes, 503 where a model is missing.
    """

    def __init__(self, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.status = status


def unreadable(reason: str) -> VoiceError:
    """The recording is no audio that is known here."""
    return VoiceError(f"The file cannot be read as audio: {reason}.", param="file")


def too_long(max_s: int) -> VoiceError:
    return VoiceError(f"The audio is longer than {max_s} s. Send it in parts.", param="file")
