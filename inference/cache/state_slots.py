"""Slots for what some models keep of a sequence beside keys and values: a state of fixed size.

A recurrent layer (Mamba) has one for each sequence, however long that is. A running request has one
slot, from its start to its end or preemption. Slot 0 belongs to no request: what is computed for
none, as a probe is, is written there.

Invariant: free + taken = total.
"""

from __future__ import annotations

NO_SLOT = 0


class StateSlots:
    def __init__(self, total: int) -> None:
        """`total` slots beside slot 0; none for a model without states."""
        self.total = total
        self._free = list(range(total, 0, -1))

    @property
    def num_used(self) -> int:
        return self.total - len(self._free)

    @property
    def can_take(self) -> bool:
        """Whether one more sequence can run; always, of a model without states."""
        return not self.total or bool(self._free)

    def take(self) -> int:
        """A slot; what is in it is another sequence's, until the first token is computed.

        The caller has asked `can_take`. `NO_SLOT` of a model without states.
        """
        return self._free.pop() if self.total else NO_SLOT

    def release(self, slot: int) -> None:
        """Take a slot back; `NO_SLOT` belongs to no request."""
        if slot != NO_SLOT:
            self._free.append(slot)
