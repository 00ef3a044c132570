"""What is said of a command that a run proposes: the same in the window and on the command line."""

from __future__ import annotations

from lineclear.core.inbox.operator.settings import LaunchSetting, Settings, launch_for
from lineclear.core.inbox.relaunch.proposals import NAME, accepted, same_command
from lineclear.core.places import path_text
from lineclear.core.sentences import worded
from lineclear.language import marked

ABOUT = marked(
    "An agent wrote this; nothing of it has run. Trusted, it is copied into your settings as it"
    " stands here, for this run alone. What the file says later changes nothing."
)
QUESTION = marked("Trust exactly this command?")


def heading(proposal: LaunchSetting) -> str:
    """Name the run that proposes."""
    return worded(
        "The run in {folder} proposes in {file}:",
        folder=path_text(proposal.source or ""),
        file=NAME,
    )


def standing(settings: Settings, proposal: LaunchSetting) -> str:
    """Say how PROPOSAL stands to what was trusted before; "" where nothing was."""
    known = accepted(settings, proposal)
    if known is None:
        return ""
    if same_command(known, proposal):
        return worded("You trust exactly this command already.")
    return worded(
        "This is not the command that you trusted for this run: {file} was "
        "changed since. Yours counts until you trust the new one.",
        file=NAME,
    )


def overruled(settings: Settings, proposal: LaunchSetting, agent: str) -> str:
    """Say that another command counts before PROPOSAL, even once it is trusted; "" for none."""
    if proposal.source is None:
        return ""
    found = launch_for(settings, agent=agent, store=proposal.source)
    if found is None or found.agent is None:
        return ""
    return worded("Your own command for this agent counts before it; remove that one to use this.")


def done(proposal: LaunchSetting) -> str:
    """Say that it counts now."""
    return worded("Trusted, for {folder} alone.", folder=path_text(proposal.source or ""))
