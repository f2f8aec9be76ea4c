"""English text as the sounds that Piper's voices were trained with.

The voices learned the symbols of espeak-ng, which is not asked for them: its licence is GPL-3.
gruut (MIT) reads numbers, dates, money and abbreviations, looks words up and guesses what it does
not find; its symbols are written as espeak's are.
"""

import re

import gruut

LANGUAGE = "en-us"
_LONG = {"i": "iː", "u": "uː", "ɑ": "ɑː", "ɔ": "ɔː"}
_STRESS = "ˈˌ"
_PAUSES = {"|": ",", "‖": "."}
_SPOKEN_AS_IS = ",;:.?!"
_HIDDEN = re.compile(r"[*_`#~|<>\[\]{}\\^]+")


def phonemes(text: str) -> str:
    """The sounds of `text`, with stress and pauses; "" where nothing of it is spoken."""
    said = ""
    for sentence in gruut.sentences(_HIDDEN.sub(" ", text), lang=LANGUAGE):
        for word in sentence:
            if not word.phonemes:
                continue
            pause = _PAUSES.get(word.phonemes[0])
            if pause is not None:
                said += word.text if word.text in _SPOKEN_AS_IS else pause
            else:
                said += (" " if said else "") + "".join(map(_as_espeak, word.phonemes))
    return said if any(sound.isalpha() for sound in said) else ""


def _as_espeak(sound: str) -> str:
    stress = sound[0] if sound[0] in _STRESS else ""
    plain = sound[len(stress) :].replace("͡", "")
    if plain == "ɚ" and stress:
        plain = "ɜː"  # "bird", not "better"
    elif plain != "i" or stress:  # "happy" ends in a short one
        plain = _LONG.get(plain, plain)
    return stress + plain
