"""What a score means: how seldom an ordinary prompt of an unseen source reaches it."""

import numpy as np

HARM_POINTS = (0.95, 0.9955)
ATTACK_POINTS = (0.95, 0.985)
"""Shares of ordinary prompts that stay below a score of 0.5, and below one of 0.8."""


def calibration(ordinary: np.ndarray) -> np.ndarray:
    """Slope and shift by head (harm, attack), float [2, 2].

    Args:
        ordinary: logits of ordinary prompts by weights that saw nothing of their source, [n, 2].
    """
    result = np.zeros((2, 2))
    for head, points in enumerate((HARM_POINTS, ATTACK_POINTS)):
        at_half, at_threshold = np.quantile(ordinary[:, head], points)
        slope = np.log(0.8 / 0.2) / max(at_threshold - at_half, 1e-6)
        result[:, head] = slope, -slope * at_half
    return result
