"""Lighthouse's report of one page, and what of it is printed: the scores, and the long tasks behind
the blocking time. By `npx lighthouse`, fetched when it is first asked for."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LIGHTHOUSE = "lighthouse@13"
TIMES = {
    "FCP": "first-contentful-paint",
    "LCP": "largest-contentful-paint",
    "TBT": "total-blocking-time",
    "SI": "speed-index",
    "CLS": "cumulative-layout-shift",
}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")

Report = dict[str, Any]


def lighthouse_report(url: str, port: int, file: Path, options: list[str]) -> Report:
    """What it finds in the browser that listens on `port`; `file` gets it as JSON."""
    npx = shutil.which("npx")
    if npx is None:
        sys.exit("Lighthouse needs npx, of Node.js.")
    done = subprocess.run(
        [
            *(npx, "--yes", LIGHTHOUSE, url, "--quiet", f"--port={port}"),
            *("--disable-storage-reset", "--output=json", f"--output-path={file}", *options),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    report: Report = json.loads(file.read_text())
    if report["finalDisplayedUrl"] != url:
        sys.exit(f"{url} led to {report['finalDisplayedUrl']}")
    return report


def performance(report: Report) -> float:
    """0 where it could not be measured."""
    return float(report["categories"]["performance"]["score"] or 0)


def print_head() -> None:
    print(f"| page | {' | '.join(CATEGORIES)} | {' | '.join(TIMES)} | audits below 90 % |")
    print(f"|--|{'--:|' * (len(CATEGORIES) + len(TIMES))}--|")


def print_scores(name: str, report: Report) -> None:
    categories = [report["categories"][one] for one in CATEGORIES]
    weighed = {audit["id"] for one in categories for audit in one["auditRefs"] if audit["weight"]}
    scores = {key: report["audits"][key]["score"] for key in sorted(weighed)}
    low = ", ".join(key for key, score in scores.items() if score is not None and score < 0.9)
    # None of a category that could not be measured, such as on a machine that is too busy.
    rounded = [
        "-" if one["score"] is None else str(round(100 * one["score"])) for one in categories
    ]
    times = [report["audits"][key].get("displayValue", "-") for key in TIMES.values()]
    print(f"| {name} | {' | '.join(rounded + times)} | {low} |", flush=True)


def print_long_tasks(name: str, report: Report) -> None:
    """Each task over 50 ms of the slowed processor, in their order."""
    tasks = report["audits"]["long-tasks"].get("details", {}).get("items", [])
    if not tasks:
        return
    print(f"\nLong tasks of {name}:\n\n| from, ms | for, ms | script |\n|--:|--:|--|")
    for task in sorted(tasks, key=lambda one: float(one["startTime"])):
        script = urlsplit(task["url"]).path.rpartition("/")[2]
        print(f"| {task['startTime']:.0f} | {task['duration']:.0f} | {script} |")
