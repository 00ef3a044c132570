"""What agents write: strict reading, the systems' formats, and text that is safe to show."""

from lineclear.core.checkpoints.fileread import FileBytes, FileIdentity, read_file
from lineclear.core.checkpoints.model import (
    MISSING,
    Checkpoint,
    Counters,
    Entry,
    FileRule,
    Format,
    Head,
    Json,
    PendingCall,
    Position,
    Section,
    Step,
    Usage,
)
from lineclear.core.checkpoints.sniff import FORMATS, read_checkpoint
from lineclear.core.checkpoints.text import VisibleText, reveal, visible, visible_line

__all__ = [
    "FORMATS",
    "MISSING",
    "Checkpoint",
    "Counters",
    "Entry",
    "FileBytes",
    "FileIdentity",
    "FileRule",
    "Format",
    "Head",
    "Json",
    "PendingCall",
    "Position",
    "Section",
    "Step",
    "Usage",
    "VisibleText",
    "read_checkpoint",
    "read_file",
    "reveal",
    "visible",
    "visible_line",
]
