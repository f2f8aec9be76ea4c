"""A model's tokenizer and chat template, from its GGUF file or Hugging Face folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from inference.errors import ModelLoadError
from inference.model.gguf_format import GGUFFile
from inference.text.chat_template import ChatTemplate
from inference.text.gguf_tokenizer import tokenizer_from_gguf
from inference.text.template_mends import mended
from inference.text.tokenizer import TextTokenizer


def load_text(
    path: str, template_file: str | None = None
) -> tuple[TextTokenizer, ChatTemplate | None]:
    """Tokenizer and template; a model without a template has None.

    Raises:
        ModelLoadError: when there is no tokenizer that we know.
    """
    if Path(path).is_dir():
        tokenizer, source = _from_folder(Path(path))
    else:
        metadata = GGUFFile(Path(path)).metadata
        tokenizer = tokenizer_from_gguf(metadata)
        source = metadata.get("tokenizer.chat_template")
    if template_file is not None:
        source = Path(template_file).read_text()
    if not source:
        return tokenizer, None
    template = ChatTemplate(
        mended(source),
        special_tokens=tokenizer.special_tokens,
        bos_token=tokenizer.bos_token,
        eos_token=tokenizer.eos_token,
    )
    return tokenizer, template


def _from_folder(folder: Path) -> tuple[TextTokenizer, str | None]:
    file = folder / "tokenizer.json"
    if not file.exists():
        raise ModelLoadError(f"{folder} has no tokenizer.json")
    settings = folder / "tokenizer_config.json"
    config: dict[str, Any] = json.loads(settings.read_text()) if settings.exists() else {}
    template = folder / "chat_template.jinja"
    source = template.read_text() if template.exists() else config.get("chat_template")
    known = Tokenizer.from_file(str(file))
    # As Sentence-BERT's files say: a text is refused here rather than cut in silence.
    known.no_truncation()
    known.no_padding()
    tokenizer = TextTokenizer(
        known,
        bos_token=_content(config.get("bos_token")),
        eos_token=_content(config.get("eos_token")),
        add_bos=False,  # the file's own post-processor adds what belongs there
    )
    return tokenizer, source


def _content(token: Any) -> str | None:
    """Special tokens are written as text or as an object around it."""
    return token["content"] if isinstance(token, dict) else token
