"""The page's types of the API are generated, and those of the API as it is."""

import os
import subprocess
from pathlib import Path

from backend.api.application import api
from backend.platform.json import encode_json
from infra.launcher import frontend

GENERATED = frontend.SOURCES / "src" / "api" / "schema.gen.ts"


def test_types_are_generated_from_the_document_of_today(tmp_path: Path) -> None:
    document, types = tmp_path / "openapi.json", tmp_path / "schema.gen.ts"
    document.write_bytes(encode_json(api.get_openapi_schema()))
    node = frontend.find_node()
    subprocess.run(
        [node.node, "scripts/refresh-schema.mjs", document, types],
        cwd=frontend.SOURCES,
        env={**os.environ, **node.environment()},
        check=True,
    )
    assert types.read_text() == GENERATED.read_text(), "run `npm run schema` in frontend/"
