"""Every text of the window can be translated: shown in a language in which all words differ."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAY = Path(__file__).parent / "pseudo_locale.py"
sys.path.insert(0, str(ROOT / "packaging"))

import texts  # noqa: E402

SCENES = {
    "reading": (
        "inbox",
        "hidden",
        "changes",
        "diff",
        "patch",
        "find-fields",
        "secrets-text",
        "file",
    ),
    "states": ("dead", "uncertain", "resume", "other-run", "unreadable", "snoozed"),
    "deciding": ("armed", "frozen", "deny", "modify", "form", "review", "answer", "answer-review"),
    "frame": (
        "empty",
        "demo",
        "no-match",
        "filter-help",
        "filter-wrong",
        "keys",
        "closing",
        "missing",
        "folded",
    ),
    "troubles": (
        *("failed", "failed-run", "removed", "led-elsewhere", "linked-store", "leaving", "twin"),
        *("again", "changed-arguments", "taken-back", "paused", "wide"),
        *("all-paused", "hidden-by-link", "small-deny-warned", "small-denied", "not-denied"),
    ),
    "settings": (
        *("settings-general", "settings-removal", "settings-try", "settings-edit"),
        *("settings-keys", "settings-look", "settings-history", "settings-damaged", "proposal"),
    ),
    "history": ("history", "history-pivot", "history-verify", "history-export", "history-stored"),
    "together": ("several", "burst", "burst-armed", "burst-deny", "burst-done"),
}


LOOKS = {
    "window": ("fitting.py", "SOURCE", "1.01"),
    "settings": ("fitting_windows.py", "1.01", "settings-folders", "settings-edit", "keys"),
    "history": ("fitting_windows.py", "1.01", "history", "history-export", "burst", "proposal"),
}


def played(folder: Path, scenes: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return run(folder, PLAY, *scenes)


def run(folder: Path, script: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        **more,
        "QT_QPA_PLATFORM": "offscreen",
        "LINECLEAR_LOCALE": str(folder),
        "LANGUAGE": texts.PSEUDO,
        "PYTHONUTF8": "1",
    }
    return subprocess.run(
        [sys.executable, str(script), *argv],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=270,
        check=False,
    )


@pytest.mark.e2e
@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", SCENES)
def test_every_text_of_the_window_is_in_the_catalogue(part, tmp_path):
    texts.pseudo(tmp_path)
    done = played(tmp_path, SCENES[part])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""
    assert int(done.stderr.rsplit("\n", 2)[-2].split()[0]) > 300 * len(SCENES[part])


@pytest.mark.e2e
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "look",
    [
        # The main window in every run.
        pytest.param(look, marks=() if look == "window" else pytest.mark.thorough)
        for look in LOOKS
    ],
)
def test_longer_words_are_not_cut_and_do_not_overlap(look, tmp_path):
    """Larger type asks for a window of the same least size as longer words do."""
    texts.pseudo(tmp_path / "locale")
    home = tmp_path / "home"
    home.mkdir()
    script, *argv = LOOKS[look]
    argv = [each.replace("SOURCE", str(tmp_path / "agents")) for each in argv]
    done = run(tmp_path / "locale", PLAY.with_name(script), *argv, HOME=str(home))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_a_text_that_is_not_translated_is_found(tmp_path):
    texts.pseudo(
        tmp_path,
        without=frozenset(
            {"Deny\u2026", "{n} tool call", "{agent} is waiting and runs it at once."}
        ),
    )
    found = played(tmp_path, ("inbox",)).stdout
    assert "DecisionButton deny: 'Deny\u2026' has Deny" in found
    assert "is waiting and runs it at once." in found


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_a_sentence_of_core_that_is_not_translated_is_found(tmp_path):
    wording = "The key '{twice}' appears twice; which one counts is not certain."
    texts.pseudo(tmp_path, without=frozenset({wording}))
    found = played(tmp_path, ("unreadable",)).stdout
    told = [line for line in found.splitlines() if wording.format(twice="cmd") in line]
    assert any("QueueView table" in line for line in told)
    assert any("WholeLabel standing" in line for line in told)
