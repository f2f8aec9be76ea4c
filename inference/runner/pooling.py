"""A whole prompt as one vector: the mean of its tokens' hidden states, of length one."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.core import Chunk, Pooled, Request

NormedRows = Callable[[Tensor], Tensor]
"""Hidden states after the final norm, (R, hidden), of the given flat rows, (R,)."""


class MeanPooler:
    """Sums chunk by chunk, in float32, so that a prompt may be computed in pieces.

    A request that pools never starts from cached blocks (`KVCacheManager.find_prefix`),
    since of those only keys and values are left: so its chunks begin at 0, after a
    preemption again.
    """

    def __init__(self) -> None:
        self._sums: WeakKeyDictionary[Request, Tensor] = WeakKeyDictionary()

    def __call__(self, chunk: Chunk, first_row: int, normed_rows: NormedRows) -> Pooled | None:
        """Take in a chunk, which lies in the batch from `first_row`; the vector after the last."""
        rows = torch.arange(first_row, first_row + chunk.num_tokens)
        total = normed_rows(rows).float().sum(dim=0)
        if chunk.start > 0:
            total += self._sums[chunk.request]
        self._sums[chunk.request] = total
        if not chunk.samples:
            return None
        vector = F.normalize(total / chunk.request.num_tokens, dim=0)
        return Pooled(vector.cpu().numpy().astype("<f4").tobytes())
