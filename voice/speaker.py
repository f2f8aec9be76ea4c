"""Piper's voice on onnxruntime: a sentence as samples.

Source: Kim, Kong and Son 2021, "Conditional Variational Autoencoder with Adversarial Learning for
End-to-End Text-to-Speech" (VITS); https://github.com/rhasspy/piper
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime

from voice.encoders import RATE
from voice.phonemes import phonemes
from voice.resample import Samples, resample

_PAUSE_S = 0.15
_PAD, _BEGIN, _END = "_", "^", "$"


class Speaker:
    """One voice.

    Args:
        path: its ONNX file; what its symbols are stands beside it, in a file of the same name and
            `.json`.
    """

    def __init__(self, path: Path, *, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options)
        card = json.loads(path.with_name(f"{path.name}.json").read_text())
        self._ids: dict[str, list[int]] = card["phoneme_id_map"]
        self._rate = int(card["audio"]["sample_rate"])
        how = card["inference"]
        self._noise, self._length, self._noise_w = (
            float(how[name]) for name in ("noise_scale", "length_scale", "noise_w")
        )

    def say(self, sentence: str, *, speed: float) -> Samples:
        """24,000 samples a second, between -1 and 1; none where there is nothing to say."""
        sounds = phonemes(sentence)
        if not sounds:
            return np.zeros(0, np.float32)
        ids = [*self._ids[_BEGIN]]
        for sound in sounds:
            for number in self._ids.get(sound, ()):
                ids += [*self._ids[_PAD], number]
        ids += [*self._ids[_PAD], *self._ids[_END]]
        [spoken] = self._session.run(
            None,
            {
                "input": np.array([ids], np.int64),
                "input_lengths": np.array([len(ids)], np.int64),
                "scales": np.array([self._noise, self._length / speed, self._noise_w], np.float32),
            },
        )
        samples = resample(spoken.reshape(-1).astype(np.float32), self._rate, RATE)
        pause = np.zeros(round(_PAUSE_S * RATE / speed), np.float32)
        return np.concatenate([np.clip(samples, -1, 1), pause])
