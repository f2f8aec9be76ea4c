"""Where somebody speaks: Silero's voice activity detector, one probability for 32 ms.

Whisper makes words out of silence and noise, so it is not given any.
Source: Silero Team, "Silero VAD", https://github.com/snakers4/silero-vad
"""

from pathlib import Path

import numpy as np
import onnxruntime

from voice.resample import Samples

FRAME = 512
_CONTEXT = 64
_THRESHOLD = 0.5
_BEFORE = 4_800
"""Samples that are kept before the first voice: 0.3 s, for the sound that begins a word."""


class SpeechDetector:
    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options)

    def first_voice(self, samples: Samples) -> int | None:
        """The sample at which speech begins, or a little before it; None where there is none."""
        state = np.zeros((2, 1, 128), np.float32)
        padded = np.pad(samples, (_CONTEXT, -len(samples) % FRAME))
        rate = np.array(16_000, np.int64)
        in_a_row = 0
        for start in range(0, len(padded) - _CONTEXT, FRAME):
            heard = padded[None, start : start + _CONTEXT + FRAME]
            fed = {"input": heard, "state": state, "sr": rate}
            probability, state = self._session.run(None, fed)
            in_a_row = in_a_row + 1 if probability.item() > _THRESHOLD else 0
            if in_a_row == 2:  # one frame alone is a click
                return max(0, start - FRAME - _BEFORE)
        return None
