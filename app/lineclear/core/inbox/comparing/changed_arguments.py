"""Arguments that an operator changed: what the agent would refuse, and what hides something."""

from __future__ import annotations

from lineclear.core.checkpoints.model import Json
from lineclear.core.checkpoints.toolschema import misfit
from lineclear.core.checkpoints.warnings import SENTENCES, Level, argument_warnings, level_of
from lineclear.core.errors import Refusal
from lineclear.core.ledger.store import Shown
from lineclear.core.sentences import worded


def stop_codes(arguments: Json) -> frozenset[str]:
    """Stop warnings that arguments raise by themselves; an approval must name each."""
    return frozenset(c for c in argument_warnings(arguments) if level_of(c) is Level.STOP)


def refuse_unfit(shown: Shown, arguments: Json, despite: frozenset[str]) -> None:
    """Pass, or say why a call cannot be approved with these ARGUMENTS.

    Raises Refusal: `invalid_arguments` names the argument that the tool's schema does not take;
    else the code of a Stop warning that they raise and that DESPITE does not name.
    """
    for code in sorted(stop_codes(arguments) - despite):
        raise Refusal(
            worded("Look again at the changed arguments: {why}", why=SENTENCES.get(code, code)),
            code=code,
        )
    schema = None if shown.block is None else shown.block.tool_schema
    asked = None if shown.call is None else shown.call.arguments
    # A schema that does not fit even what was asked describes something else.
    if schema is None or misfit(schema, asked) is not None:
        return
    why = misfit(schema, arguments)
    if why is not None:
        raise Refusal(
            worded("The agent would refuse the changed arguments: {why}", why=why),
            code="invalid_arguments",
        )
