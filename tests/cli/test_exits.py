import errno

import pytest

from lineclear.cli.exits import Exit, UsageError, exit_code, sentence
from lineclear.core import errors
from lineclear.core.agent import errors as agent_errors


@pytest.mark.parametrize(
    "error,code",
    [
        (errors.NotConfirmed("x"), 1),
        (OSError(errno.ENOSPC, "No space left on device", "/a"), 1),
        (errors.LineclearError("The settings in /a cannot be understood."), 1),
        (errors.Unreadable("no_permission", "x"), 1),
        (UsageError("x"), 2),
        (errors.AmbiguousId("x"), 2),
        (errors.AlreadyDecided("x"), 3),
        (errors.Refusal("x", code="invisible"), 4),
        (errors.DecisionRefused("x", code="lapsed"), 4),
        (errors.StoreRefused("x", code="store_moved"), 4),
        (errors.Unreadable("duplicate_key", "x"), 4),
        (errors.NothingPending("x"), 5),
        (errors.Unreadable("absent", "x"), 5),
        (errors.StoreHeld("x", 12), 6),
        (errors.Refusal("x", code="alive"), 6),
        (errors.Refusal("x", code="being_started"), 6),
        (errors.MayHaveRun("x", "0" * 32), 7),
        (agent_errors.AgentFailed("x"), 8),
        (agent_errors.MaxIterationsReached(3), 8),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    assert exit_code(error) == code


def every_error():
    rest = [errors.LineclearError]
    while rest:
        kind = rest.pop()
        rest += kind.__subclasses__()
        # Those of the window never reach the command line.
        if not kind.__module__.startswith("lineclear.ui"):
            yield kind


def test_no_error_of_the_core_is_told_as_an_input_or_output_error_by_oversight():
    told_as_io = {kind.__name__ for kind in every_error() if kind_code(kind) is Exit.IO}
    assert told_as_io == {
        "LineclearError",
        "NotConfirmed",
        "ResumeError",
        "ResumeIOError",
        "SettingsDamaged",
    }


def kind_code(kind):
    return exit_code(kind.__new__(kind))


def test_a_refusal_ends_with_its_reason_code():
    refusal = errors.Refusal("The call changed.", code="changed")
    assert sentence(refusal) == "The call changed. [changed]"


def test_a_refusal_that_a_second_look_cures_says_how():
    refusal = errors.Refusal("The tool's name hides a character.", code="invisible")
    assert sentence(refusal) == (
        "The tool's name hides a character. Having looked, add: --despite invisible [invisible]"
    )


def test_a_file_is_named_even_if_the_sentence_forgot_it():
    error = errors.Unreadable("nul", "It holds a NUL.", "/agents/a/pending.json")
    assert sentence(error) == "It holds a NUL: /agents/a/pending.json. [nul]"


def test_an_error_of_the_system_names_its_files():
    error = OSError(errno.ENOENT, "No such file or directory", "/a")
    assert sentence(error) == "/a: No such file or directory."
    error = OSError(errno.EXDEV, "Invalid cross-device link", "/a", None, "/b")
    assert sentence(error) == "/a → /b: Invalid cross-device link."
