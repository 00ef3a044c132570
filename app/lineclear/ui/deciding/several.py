"""What the pane's decisions need to know of those on several calls together."""

from __future__ import annotations

from typing import Protocol

from lineclear.ui.deciding.offers import Offer


class Several(Protocol):
    """Decides several calls together; the pane decides one."""

    def offer(self, count: int) -> Offer:
        """What COUNT selected calls can be given."""

    def decides(self, row_id: str) -> bool:
        """Whether a call is being, or was, decided there."""

    def open(self) -> None:
        """Compare what is selected."""
