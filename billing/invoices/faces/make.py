"""Makes the two fonts beside it, of the variable fonts of the Noto project.

`pip install justmytype-intl-cjk==0.1.0 fonttools`, which holds them as Google Fonts has them, and
`python -m billing.invoices.faces.make`. What is kept are the characters of JIS X 0208 and of
GB 2312, in the weight Regular, without hints and layout tables: reportlab uses neither.
"""

from importlib.resources import files
from pathlib import Path

from fontTools import subset
from fontTools.varLib import instancer

HERE = Path(__file__).parent
FACES = {"JP": "euc_jp", "SC": "gb2312"}
DROPPED = ["GSUB", "GPOS", "GDEF", "BASE", "VORG", "vhea", "vmtx", "STAT"]


def main() -> None:
    for region, encoding in FACES.items():
        source = files("justmytype_intl_cjk") / "fonts" / "ofl" / f"notosans{region.lower()}"
        options = subset.Options(layout_features=[], notdef_outline=True, hinting=False)
        options.drop_tables += DROPPED
        font = subset.load_font(str(source / f"NotoSans{region}[wght].ttf"), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=characters(encoding))
        subsetter.subset(font)
        regular = instancer.instantiateVariableFont(font, {"wght": 400}, updateFontNames=False)
        regular.save(HERE / f"NotoSans{region}-Regular.ttf")
    (HERE / "OFL.txt").write_text((source / "OFL.txt").read_text())


def characters(encoding: str) -> str:
    """All of a character set of two bytes, and ASCII."""
    found = set(map(chr, range(0x20, 0x7F)))
    for first in range(0xA1, 0xFF):
        for second in range(0xA1, 0xFF):
            try:
                found.add(bytes([first, second]).decode(encoding))
            except UnicodeDecodeError:
                continue
    return "".join(sorted(found))


if __name__ == "__main__":
    main()
