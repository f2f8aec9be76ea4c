"""Which language a text is in, as far as tests need to know it."""

import re
from functools import cache

from infra.messages import stored, strings_of

_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh-CN": re.compile("[\u4e00-\u9fff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
}
_WORDS = {
    "en": "the your this is was",
    "de": "von noch Sie Ihr Ihre wurde wurden ist der",
    "fr": "en du vous votre est été vos de",
    "es": "su sus Se se ha si de está",
    "pt": "sua seu seus foi está de você não",
}


def is_written_in(text: str, tag: str) -> bool:
    """Whether it has words of the language, and none of the catalogues' English lines."""
    if tag != "en" and (left := english_lines() & {line.strip() for line in text.splitlines()}):
        raise AssertionError(f"English is left: {left}")
    if tag in _SCRIPTS:
        is_japanese = bool(_SCRIPTS["ja"].search(text))
        return bool(_SCRIPTS[tag].search(text)) and (tag == "ja") == is_japanese
    return bool(set(_WORDS[tag].split()) & set(re.findall(r"\w+", text)))


@cache
def english_lines() -> frozenset[str]:
    """Whole lines of the texts in the code, of more than one word and without placeholders. Each
    catalogue has them (tests/platform/test_messages.py)."""
    texts = [text for message in stored("de") for text in strings_of(message.id)]
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return frozenset(line for line in lines if " " in line and "%(" not in line)
