"""Programs that tests put beside the product: Debian's packages, installed where we are root."""

import os
import shutil

from infra.debian import install_one_of


def debian_program(program: str, package: str) -> str | None:
    """Return the program's path, installed first where there is none and it can be."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    if not (found := shutil.which(program, path=path)):
        install_one_of(program, [package])
        found = shutil.which(program, path=path)
    return found
