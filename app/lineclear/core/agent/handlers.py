"""Who answers an executor's approvals: a program's own handler, or a person in the inbox."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Final

from lineclear.core.agent.binding import is_async
from lineclear.core.agent.hooks import ToolCall
from lineclear.core.agent.threads import LedgerThreads
from lineclear.core.checkpoints.lc_agents import Allow, ApprovalDecision, Deny, Modify
from lineclear.core.ledger.decide import Verdict

ApprovalHandler = Callable[[ToolCall], ApprovalDecision | Awaitable[ApprovalDecision]]
"""Decides one call in this process; a sync one runs in a thread."""


class InboxApproval:
    """Waits for a person who decides in Lineclear; needs a FileResumeStore."""


INBOX: Final = InboxApproval()


async def ask_handler(
    handler: ApprovalHandler, call: ToolCall, threads: LedgerThreads
) -> ApprovalDecision:
    """Ask a handler, off the loop if it is sync; raises what the handler raises."""
    if is_async(handler):
        answer = handler(call)
    else:
        answer = await threads.run(lambda: handler(call))
    decision = await answer if inspect.isawaitable(answer) else answer
    if not isinstance(decision, Allow | Deny | Modify):
        raise TypeError(
            f"An approval handler must return Allow, Deny or Modify, not {type(decision).__name__}."
        )
    return decision


def verdict_of(decision: ApprovalDecision) -> Verdict:
    """Give a decision of lc-agents' form as the ledger's verdict."""
    match decision:
        case Allow():
            return Verdict("approve")
        case Deny(reason=reason):
            return Verdict("deny", reason=reason)
        case Modify(arguments=arguments, note=note):
            return Verdict("modify", arguments=arguments, note=note)
