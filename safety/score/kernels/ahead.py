"""`python -m safety.score.kernels.ahead`: builds the encoder for every set of instructions, so that
where it runs needs no compiler."""

import platform
import sys

from safety.score.kernels.compile import BUILT, LEVELS, build, library_path


def main() -> None:
    if platform.machine() not in ("x86_64", "AMD64"):
        sys.stdout.write(f"nothing is built for {platform.machine()}: onnxruntime runs it\n")
        return
    BUILT.mkdir(exist_ok=True)
    for level in LEVELS:
        build(level, library_path(level, BUILT))
        sys.stdout.write(f"{library_path(level, BUILT)}\n")


if __name__ == "__main__":
    main()
