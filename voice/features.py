"""What Whisper hears: the logarithm of 80 mel bands, a hundred times a second, for 30 s.

Source: Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision", 2.2.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from voice.resample import Samples

RATE = 16_000
WINDOW_S = 30
WINDOW = WINDOW_S * RATE
_FFT, _HOP, _BANDS = 400, 160, 80


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """At most `WINDOW` samples as 80 x 3,000 values; what is missing is silence."""
    padded = np.pad(samples, (0, WINDOW - len(samples)))
    padded = np.pad(padded, _FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP][:-1]
    hann = np.hanning(_FFT + 1)[:-1].astype(np.float32)
    power = np.abs(np.fft.rfft(frames * hann)) ** 2
    bands = np.log10(np.maximum(_filters() @ power.T, 1e-10))
    bands = np.maximum(bands, bands.max() - 8.0)
    return np.ascontiguousarray((bands + 4.0) / 4.0, np.float32)


@cache
def _filters() -> NDArray[np.float64]:
    """Slaney's mel filters, of equal area."""
    edges = _hertz(np.linspace(0, _mel(RATE / 2), _BANDS + 2))
    distance = edges[:, None] - np.fft.rfftfreq(_FFT, 1 / RATE)[None, :]
    width = np.diff(edges)
    rising, falling = -distance[:-2] / width[:-1, None], distance[2:] / width[1:, None]
    triangles = np.maximum(0, np.minimum(rising, falling))
    scaled: NDArray[np.float64] = triangles * (2 / (edges[2:] - edges[:-2]))[:, None]
    return scaled


_LINEAR = 200 / 3
"""Hertz for one mel below 1,000 Hz; above, mels are logarithmic."""
_LOG_STEP = np.log(6.4) / 27


def _mel(hertz: float) -> float:
    return float(1000 / _LINEAR + np.log(hertz / 1000) / _LOG_STEP)


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    knee = 1000 / _LINEAR
    above = 1000 * np.exp(_LOG_STEP * (np.maximum(mels, knee) - knee))
    return np.where(mels < knee, mels * _LINEAR, above)
