"""The voice server beside the product: started where `make voice` has brought all that it needs.

It is a process of its own (voice/), small until somebody speaks: its models are loaded when they
are asked for, and unloaded when nobody did for ten minutes. Its pools file is one more in the
folder that `PARLEY_POOLS` names.
"""

from importlib.util import find_spec
from pathlib import Path

from infra.launcher.procfile import ROOT

PROCESS = "voice"
POOLS = ROOT / "infra" / "models" / "voice.pools.toml"
COMMAND = (
    'python -m voice --models "$PARLEY_VOICE_MODELS" serve --host 127.0.0.1'
    ' --port "$PARLEY_VOICE_PORT"'
)
_PACKAGES = ("ctranslate2", "gruut", "soundfile", "tokenizers")
_FILES = ("whisper-base/model.bin", "piper-joe/voice.onnx")


def models_directory(models: Path) -> Path:
    """Where its models are, below the product's own."""
    return models / "voice"


def is_there(models: Path) -> bool:
    """Whether its packages are installed, and its models fetched into `models`."""
    return all(find_spec(name) is not None for name in _PACKAGES) and all(
        (models / name).is_file() for name in _FILES
    )
