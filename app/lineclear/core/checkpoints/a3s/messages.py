"""The conversation in a loop checkpoint: messages, content blocks, tokens used."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from lineclear.core.checkpoints.serde import Count, Omitted, Record


class ImageSource(Record):
    """An image inside a block; `data` is base64 under the type `base64`."""

    type: str
    media_type: str
    data: str


class TextBlock(Record):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class ImageBlock(Record):
    """An image."""

    type: Literal["image"] = "image"
    source: ImageSource


class ToolUseBlock(Record):
    """A tool call that the model made; `input` is any JSON."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: Any


class Trust(StrEnum):
    """Where a tool's result comes from (a3s 8.3 and later)."""

    TRUSTED = "trusted"
    WORKSPACE_DATA = "workspace_data"
    EXTERNAL = "external"


ResultBlock = Annotated[TextBlock | ImageBlock, Field(discriminator="type")]


class ToolResultBlock(Record):
    """What a tool call came back with: a text, or an array of texts and images.

    `is_error` is written as null where it is not known.
    """

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str | list[ResultBlock]
    is_error: bool | None = None
    trust: Omitted[Annotated[Trust, Field(strict=False)]] = Trust.WORKSPACE_DATA
    redaction_reviewed: Omitted[bool] = False

    @property
    def text(self) -> str:
        """The texts in it, one below the other, without the images."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


ContentBlock = Annotated[
    TextBlock | ImageBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")
]


class Message(Record):
    """One message; `role` is `user` (tool results too) or `assistant`."""

    role: str
    content: list[ContentBlock]
    reasoning_content: Omitted[str | None] = None

    @classmethod
    def user(cls, text: str) -> Self:
        """Make a message of the user that is one text."""
        return cls(role="user", content=[TextBlock(text=text)])

    @classmethod
    def assistant(cls, text: str) -> Self:
        """Make a message of the model that is one text."""
        return cls(role="assistant", content=[TextBlock(text=text)])

    @classmethod
    def tool_result(cls, tool_use_id: str, content: str, *, is_error: bool) -> Self:
        """Make the message that brings a tool's result to the model."""
        return cls(
            role="user",
            content=[ToolResultBlock(tool_use_id=tool_use_id, content=content, is_error=is_error)],
        )


class TokenUsage(Record):
    """Tokens used so far; the two cache figures are null where the provider tells none."""

    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None

    @classmethod
    def zero(cls) -> Self:
        """Give the usage of a run that has not asked its model yet."""
        return cls(prompt_tokens=0, completion_tokens=0, total_tokens=0)

    @property
    def cache_tokens(self) -> int | None:
        """Tokens read from and written to a cache together; None where neither is told."""
        told = [n for n in (self.cache_read_tokens, self.cache_write_tokens) if n is not None]
        return sum(told) if told else None
