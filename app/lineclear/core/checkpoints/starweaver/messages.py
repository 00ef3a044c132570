"""The conversation of a starweaver run: requests, responses and their parts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from lineclear.core.checkpoints.model import MISSING, Json
from lineclear.core.checkpoints.serde import Omitted, Record
from lineclear.core.checkpoints.starweaver.accounting import Metadata, Usage
from lineclear.core.checkpoints.starweaver.arguments import ToolArguments, read_arguments

_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
Timestamp = Annotated[str, Field(pattern=rf"^{_DATE}[Tt ]{_TIME}([Zz]|[+-]\d\d:\d\d)$")]
"""RFC 3339; starweaver itself writes Z and 0, 3, 6 or 9 digits of a second's fraction."""

_Meta = Omitted[Metadata]


# --- tools ------------------------------------------------------------------------------------


class ToolCallPart(Record):
    """A tool call that the model made; `arguments` stands in one of `ToolArguments`' forms."""

    id: str
    name: str
    arguments: Any = None

    @property
    def tool_arguments(self) -> ToolArguments:
        """The arguments with their form told."""
        return read_arguments(self.arguments)


class ToolReturnPart(Record):
    """What a tool call came back with, or why it has to wait (`metadata.control_flow`)."""

    tool_call_id: str
    name: str
    content: Any
    is_error: bool = False
    metadata: _Meta = Field(default_factory=dict)
    app_value: Omitted[Any] = MISSING
    user_content: Omitted[Any] = MISSING
    private_metadata: _Meta = Field(default_factory=dict)


# --- what a user sends ------------------------------------------------------------------------


class TextContent(Record):
    """Text."""

    kind: Literal["text"] = "text"
    text: str


class ImageUrlContent(Record):
    """An image by its address."""

    kind: Literal["image_url"] = "image_url"
    url: str


class FileUrlContent(Record):
    """A file by its address."""

    kind: Literal["file_url"] = "file_url"
    url: str
    media_type: str


class BinaryContent(Record):
    """Bytes, as numbers from 0 to 255."""

    kind: Literal["binary"] = "binary"
    data: list[Annotated[int, Field(ge=0, le=255)]]
    media_type: str


class ResourceContent(Record):
    """Something that a host resolves."""

    kind: Literal["resource_ref"] = "resource_ref"
    uri: str
    media_type: str
    resource_type: str
    metadata: _Meta = Field(default_factory=dict)


class DataUrlContent(Record):
    """Bytes inside a data URL."""

    kind: Literal["data_url"] = "data_url"
    data_url: str
    media_type: str


class CachePointContent(Record):
    """Where a provider may cut its prompt cache; no content."""

    kind: Literal["cache_point"] = "cache_point"
    ttl: Omitted[Literal["5m", "1h"] | None] = None


ContentPart = Annotated[
    TextContent
    | ImageUrlContent
    | FileUrlContent
    | BinaryContent
    | ResourceContent
    | DataUrlContent
    | CachePointContent,
    Field(discriminator="kind"),
]


# --- requests ---------------------------------------------------------------------------------


class SystemPrompt(Record):
    """The system's instruction."""

    kind: Literal["system_prompt"] = "system_prompt"
    text: str
    metadata: _Meta = Field(default_factory=dict)


class UserPrompt(Record):
    """What a user said."""

    kind: Literal["user_prompt"] = "user_prompt"
    content: list[ContentPart]
    name: Omitted[str | None] = None
    metadata: _Meta = Field(default_factory=dict)


class ToolReturn(ToolReturnPart):
    """A tool's result inside a request."""

    TAG: ClassVar[str] = "kind"
    kind: Literal["tool_return"] = "tool_return"


class RetryPrompt(Record):
    """What was wrong with the last answer."""

    kind: Literal["retry_prompt"] = "retry_prompt"
    text: str
    tool_call_id: Omitted[str | None] = None
    metadata: _Meta = Field(default_factory=dict)


class Instruction(Record):
    """One piece of an instruction."""

    kind: Literal["instruction"] = "instruction"
    text: str
    metadata: _Meta = Field(default_factory=dict)


RequestPart = Annotated[
    SystemPrompt | UserPrompt | ToolReturn | RetryPrompt | Instruction,
    Field(discriminator="kind"),
]


class ModelRequest(Record):
    """What was sent to the model in one turn."""

    kind: Literal["request"] = "request"
    parts: list[RequestPart]
    timestamp: Omitted[Timestamp | None] = None
    instructions: Omitted[str | None] = None
    run_id: Omitted[str | None] = None
    conversation_id: Omitted[str | None] = None
    metadata: _Meta = Field(default_factory=dict)

    @classmethod
    def user_text(cls, text: str) -> Self:
        """Make a request that is one text of the user."""
        return cls(parts=[UserPrompt(content=[TextContent(text=text)])])


# --- responses --------------------------------------------------------------------------------


class ProviderPartInfo(Record):
    """What a provider needs to take a part back."""

    id: Omitted[str | None] = None
    provider_name: Omitted[str | None] = None
    details: _Meta = Field(default_factory=dict)


_Provider = Omitted[ProviderPartInfo]


class TextPart(Record):
    """Text of the model."""

    kind: Literal["text"] = "text"
    text: str


class ProviderTextPart(Record):
    """Text of the model that its provider marked."""

    kind: Literal["provider_text"] = "provider_text"
    text: str
    provider: _Provider = Field(default_factory=ProviderPartInfo)


class ThinkingPart(Record):
    """Reasoning of the model."""

    kind: Literal["thinking"] = "thinking"
    text: str
    signature: Omitted[str | None] = None


class ProviderThinkingPart(Record):
    """Reasoning of the model that its provider marked."""

    kind: Literal["provider_thinking"] = "provider_thinking"
    text: str
    signature: Omitted[str | None] = None
    provider: _Provider = Field(default_factory=ProviderPartInfo)


class ToolCall(ToolCallPart):
    """A tool call inside a response."""

    TAG: ClassVar[str] = "kind"
    kind: Literal["tool_call"] = "tool_call"


class ProviderToolCall(Record):
    """A tool call that its provider marked."""

    kind: Literal["provider_tool_call"] = "provider_tool_call"
    call: ToolCallPart
    provider: _Provider = Field(default_factory=ProviderPartInfo)


class NativeToolCall(Record):
    """A tool that the provider runs itself."""

    kind: Literal["native_tool_call"] = "native_tool_call"
    tool_type: str
    payload: Any


class NativeToolReturn(Record):
    """The result of a tool that the provider ran itself."""

    kind: Literal["native_tool_return"] = "native_tool_return"
    tool_type: str
    payload: Any


class FilePart(Record):
    """A file that the model returned."""

    kind: Literal["file"] = "file"
    url: str
    media_type: str


class CompactionPart(Record):
    """A summary that stands for what was before it."""

    kind: Literal["compaction"] = "compaction"
    summary: str


class ProviderOpaquePart(Record):
    """What only its provider understands."""

    kind: Literal["provider_opaque"] = "provider_opaque"
    item_type: str
    payload: Any
    provider: _Provider = Field(default_factory=ProviderPartInfo)


ResponsePart = Annotated[
    TextPart
    | ProviderTextPart
    | ThinkingPart
    | ProviderThinkingPart
    | ToolCall
    | ProviderToolCall
    | NativeToolCall
    | NativeToolReturn
    | FilePart
    | CompactionPart
    | ProviderOpaquePart,
    Field(discriminator="kind"),
]


class ProviderInfo(Record):
    """Which provider answered."""

    name: str
    response_id: Omitted[str | None] = None
    details: _Meta = Field(default_factory=dict)


class FinishReason(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"


class ModelResponse(Record):
    """What the model answered."""

    parts: list[ResponsePart]
    usage: Usage = Field(default_factory=Usage.zero)
    model_name: Omitted[str | None] = None
    provider: Omitted[ProviderInfo | None] = None
    finish_reason: Omitted[Annotated[FinishReason, Field(strict=False)] | None] = None
    timestamp: Omitted[Timestamp | None] = None
    run_id: Omitted[str | None] = None
    conversation_id: Omitted[str | None] = None
    metadata: _Meta = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """All text of the answer, without the reasoning."""
        texts = (p.text for p in self.parts if isinstance(p, TextPart | ProviderTextPart))
        return "".join(texts)

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The tool calls that the runtime has to run, in order."""
        return [
            part.call if isinstance(part, ProviderToolCall) else part
            for part in self.parts
            if isinstance(part, ToolCall | ProviderToolCall)
        ]


class ResponseMessage(ModelResponse):
    """A response inside the history."""

    TAG: ClassVar[str] = "kind"
    kind: Literal["response"] = "response"

    @classmethod
    def of(cls, response: ModelResponse) -> Self:
        """Give a response the form that it has in the history."""
        document: Json = response.document()
        return cls.from_document({"kind": "response", **document})


ModelMessage = Annotated[ModelRequest | ResponseMessage, Field(discriminator="kind")]
