# ruff: noqa: RUF001 - words and marks of many scripts
"""What a person's own words say of memory: a request to remember something, sentences about
themselves, and which remembered entries a prompt is about. Pure functions of text.
"""

import re
import unicodedata

MAX_MEMORY = 300
_MAX_TYPED = 600
"""Longer messages are mostly pasted, and what is pasted is not what the person says."""
_MIN_ABOUT = 8
_GROUNDED = 0.6

_POLITE = r"(?:(?:please|bitte|merci de|por favor|per favore|alsjeblieft|من فضلك)[,،]?\s+)?"
_REQUESTS = [
    re.compile(rf"^{_POLITE}{phrase}(?P<what>.+)$", re.IGNORECASE | re.DOTALL)
    for phrase in (
        r"(?:can you |could you )?(?:please )?remember(?:(?: that| this)?:|(?: this)? that)\s*",
        r"(?:can you |could you )?(?:please )?remember\s+(?=(?:I|I['’]m|I['’]ve|my|we|our)\s)",
        r"merke? dir(?: bitte)?(?:,? dass|:)\s*",
        r"(?:souviens-toi|rappelle-toi|retiens|n['’]oublie pas"
        r"|souvenez-vous|rappelez-vous|retenez|n['’]oubliez pas)(?: bien)?"
        r"(?: que | qu['’]|\s?:)\s*",
        r"(?:recuerda|recuerde|acuérdate de|no olvides)(?: que |:)\s*",
        r"(?:lembra-te|lembre-se|lembra|lembre|não te esqueças|não esqueça)(?: de)?(?: que |:)\s*",
        r"ricorda(?:ti)?(?: che |:)\s*",
        r"onthoud(?: dat |:)\s*",
        r"(?:请|請)?(?:帮我|幫我|你要)?(?:记住|記住)\s*[:：,，]?\s*",
        r"覚えて(?:おいて)?(?:ください)?\s*[:：、]\s*",
        r"تذك[ّ]?ر(?:ي)?\s+(?=أن)",
    )
] + [
    re.compile(
        r"^(?P<what>.+?)(?:という)?(?:こと)?(?:を|と|って)?、?覚えて(?:おいて)?(?:ください|ね)?[。！!]?$"
    )
]

_FIRST_PERSON = re.compile(
    r"\b(?:I|my|mine|me|we|our|ich|mein\w*|mir|mich|wir|unser\w*|je|mon|ma|mes|moi|nous|notre|nos"
    r"|yo|mi|mis|soy|vivo|tengo|trabajo|nuestr[ao]s?|eu|meus?|minhas?|sou|moro|tenho|trabalho"
    r"|io|mio|mia|sono|ik|mijn)\b|\bj['’]|私|僕|俺|わたし|我|أنا|اسمي|أعيش|أعمل",
    re.IGNORECASE,
)
_END_OF_SENTENCE = re.compile(r"(?<=[^\W\d_]{3}[.!?])\s+|(?<=[。！？؟])\s*|\n+")
_NOT_SAID = re.compile(r"```.*?(?:```|\Z)|^[ \t]*[>|][^\n]*$", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def remembered_on_request(text: str) -> str | None:
    """What a message asks to be remembered; None where it asks for nothing.

    Only a message that begins with the request counts (in Japanese: a sentence that ends with it):
    the same words further down may be of a text that was pasted.
    """
    first = _END_OF_SENTENCE.split(text.strip()[: _MAX_TYPED + 1], maxsplit=1)[0].strip()
    if first.endswith(("?", "？", "؟")):
        return None
    for request in _REQUESTS:
        if found := request.match(first):
            return clean_memory(found["what"])
    return None


def clean_memory(text: str) -> str | None:
    """One line of at most MAX_MEMORY characters; None for nothing, or for more."""
    line = " ".join(text.replace("\x00", " ").split()).rstrip(".。!！ ")
    if not any(c.isalnum() for c in line) or len(line) > MAX_MEMORY:
        return None
    return line[0].upper() + line[1:]


def sentences_about_oneself(text: str) -> str:
    """Of a message its statements in the first person; "" without any, or where it is so long
    that it was hardly typed. Code, quoted lines and tables are left out, and so are questions."""
    if len(text) > _MAX_TYPED:
        return ""
    said = [
        sentence.strip()
        for sentence in _END_OF_SENTENCE.split(_NOT_SAID.sub("\n", text))
        if _FIRST_PERSON.search(sentence) and not sentence.rstrip().endswith(("?", "？", "؟"))
    ]
    together = " ".join(said)
    return together if len(together) >= _MIN_ABOUT else ""


def is_grounded(fact: str, said: str) -> bool:
    """Whether most of a sentence's words, and every number in it, were said: what a model adds of
    its own is no memory."""
    wanted = {word for word in words_of(fact) if len(word) > 3 or word.isdigit() or _unspaced(word)}
    wanted -= {"user", "that"}
    known = words_of(said)
    stems = {word[:4] for word in known}
    if not wanted or any(word.isdigit() and word not in known for word in wanted):
        return False
    found = sum(word in known or (not _unspaced(word) and word[:4] in stems) for word in wanted)
    return found / len(wanted) >= _GROUNDED


def words_of(text: str) -> set[str]:
    """Its words, without case; of scripts that have no spaces, each pair of letters."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _unspaced(word):
            found |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            found.add(word)
    return found


def _unspaced(word: str) -> bool:
    return _UNSPACED.search(word) is not None
