"""Letters that look like Latin ones, and the digits and signs people write for letters.

A small hand-made table for what `unicodedata.normalize("NFKC")` leaves alone: other scripts'
twins, small capitals, and letters in boxes. Grouped by the Latin letter that they pass for.
"""

_TWINS: dict[str, str] = {
    "a": "аαɑᴀạǎ🅰🅐ⲁꭺ",
    "b": "Ьвʙɓƅᏼ🅱🅑",
    "c": "сϲᴄⲥƈ🅒🅲",
    "d": "ԁɗᴅժ🅓🅳",
    "e": "еεєҽᴇɘə🅔🅴",
    "f": "ƒꜰғ🅕🅵",
    "g": "ɡɢցġ🅖🅶",
    "h": "һнʜհ🅗🅷",
    "i": "іιɪıɩӏ🅘🅸",
    "j": "јᴊʝ🅙🅹",
    "k": "кκᴋƙ🅚🅺",
    "l": "ʟⅼɭ🅛🅻",
    "m": "мᴍɱ🅜🅼",
    "n": "ոпηɴɲ🅝🅽",
    "o": "оοσօᴏөø🅞🅾",
    "p": "рρᴘ🅟🅿",
    "q": "ԛզ🅠🆀",
    "r": "гʀɾ🅡🆁",
    "s": "ѕꜱʂ🅢🆂",
    "t": "тτᴛ🅣🆃",
    "u": "υսᴜʋц🅤🆄",
    "v": "νѵᴠ🅥🆅",
    "w": "ԝωᴡɯ🅦🆆",
    "x": "хχ🅧🆇",
    "y": "уγʏү🅨🆈",
    "z": "ᴢʐ🅩🆉",
}

TWINS: dict[int, str] = {ord(twin): latin for latin, twins in _TWINS.items() for twin in twins}
"""For `str.translate`: look-alike → Latin letter, lower case."""

LEET: dict[int, str] = {
    ord(sign): letter
    for sign, letter in {
        "0": "o",
        "1": "i",
        "3": "e",
        "4": "a",
        "5": "s",
        "7": "t",
        "8": "b",
        "9": "g",
        "@": "a",
        "$": "s",
        "!": "i",
        "|": "l",
        "+": "t",
        "€": "e",
        "£": "l",
    }.items()
}
"""For `str.translate`: the usual reading of a sign inside a word."""

LEET_SECOND_READING: dict[int, str] = {**LEET, ord("1"): "l", ord("!"): "l", ord("|"): "i"}
