"""The virtual desktop is the end-to-end tests' own."""

from tests.e2e.conftest import desktop

__all__ = ["desktop"]
