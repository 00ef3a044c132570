#!/usr/bin/env python3
"""Set up Lineclear in a fresh clone, then run its tests or its demo.

    python3 packaging/dev.py demo [ARGS of `lineclear demo`]
    python3 packaging/dev.py test [--quick] [--bundle] [--since COMMIT] [-- ARGS of pytest]
    python3 packaging/dev.py setup
    python3 packaging/dev.py texts [ARGS of texts.py]

Each does all the set-up that is still missing: a virtual environment in `.venv`, the packages of
`packaging/requirements.lock` by hash, Lineclear itself in place, and on Debian and Ubuntu the
shared libraries that Qt loads. What is already there is left alone.

Standard library only, and the syntax of Python 3.8, so that an older Python can look for a newer.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import changed
from debian_packages import DESKTOP_PACKAGES, QT_PACKAGES

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCK = ROOT / "packaging" / "requirements.lock"
STAMP = VENV / ".lineclear-setup.json"
RELEASE = ROOT / "build" / "release"
"""Where a run of all tests builds what it then tests."""
TEXTS = str(Path(__file__).with_name("texts.py"))
SCRIPTS = (
    __file__,
    *(str(Path(__file__).with_name(name)) for name in ("build.py", "changed.py", "texts.py")),
)
WINDOWS = os.name == "nt"

OLDEST = (3, 11)
NEWEST = (3, 13)

QT_PROBE = "from PySide6.QtWidgets import QApplication; QApplication([])"


class SetupError(Exception):
    """The set-up cannot go on; the message is a sentence for the person who ran it."""


def say(text: str) -> None:
    """Print one line at once, so that it stands before the output of the next program."""
    print(f"dev: {text}", flush=True)


def environment() -> dict[str, str]:
    """The environment for programs of `.venv`, without what points Python elsewhere.

    Nor with what forbids compiled files, as images of Python do: the tests start thousands of
    processes, and each would compile Lineclear anew.
    """
    dropped = (
        "PIP_PREFIX",
        "PIP_TARGET",
        "PIP_USER",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHOME",
        "PYTHONPATH",
    )
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def program(name: str) -> str:
    """The path of a program in the virtual environment."""
    return str(VENV / "Scripts" / f"{name}.exe" if WINDOWS else VENV / "bin" / name)


def run(argv: list[str], failure: str) -> None:
    """Run a program of the set-up in the project's folder, its output shown.

    Raises:
        SetupError: With `failure` and the exit code, when it does not exit with 0.
    """
    try:
        code = subprocess.call(argv, cwd=str(ROOT), env=environment())
    except OSError as error:
        raise SetupError(f"{failure} ({argv[0]}: {error.strerror})") from error
    if code != 0:
        raise SetupError(f"{failure} (exit code {code} of: {shlex.join(argv)})")


def output(
    argv: list[str], env: dict[str, str] | None = None, seconds: float = 60
) -> tuple[int, str]:
    """Exit code and output of a program; 127 when it cannot be started or outlasts `seconds`."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace")


# --- Python and the virtual environment -------------------------------------------------------


def version_of(python: list[str]) -> tuple[int, int] | None:
    """Major and minor version of an interpreter, or None when it does not run."""
    code, text = output([*python, "-c", "import sys; print(*sys.version_info[:2])"], environment())
    words = text.split()
    if code != 0 or len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    return int(words[0]), int(words[1])


def fits(version: tuple[int, int] | None) -> bool:
    """Whether Lineclear runs on that version."""
    return version is not None and OLDEST <= version <= NEWEST


def find_python() -> list[str]:
    """The command of a Python that fits: the running one, else the newest found.

    Raises:
        SetupError: No Python from 3.11 to 3.13 is on this machine.
    """
    if fits(sys.version_info[:2]):
        return [sys.executable]
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        command = ["py", f"-3.{minor}"] if WINDOWS else [f"python3.{minor}"]
        if shutil.which(command[0]) and version_of(command) == (3, minor):
            return command
    raise SetupError(
        "Lineclear needs Python 3.11, 3.12 or 3.13, and this is Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}. Install one of them and run this again."
    )


def digest(*parts: bytes) -> str:
    """SHA-256 over the parts, each with its length before it."""
    total = hashlib.sha256()
    for part in parts:
        total.update(b"%d\n" % len(part))
        total.update(part)
    return total.hexdigest()


def read_stamp() -> dict[str, str]:
    """What an earlier set-up left in `.venv`; empty when there is none that can be read."""
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_stamp(stamp: dict[str, str]) -> None:
    """Note what is installed, as a whole file or not at all."""
    draft = STAMP.with_name(STAMP.name + ".new")
    draft.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    draft.replace(STAMP)


def make_venv(stamp: dict[str, str]) -> None:
    """Make `.venv`, or make it again when it does not work or was moved here from elsewhere."""
    version = version_of([program("python")]) if Path(program("python")).exists() else None
    moved = stamp.get("root", str(ROOT)) != str(ROOT)
    if fits(version) and not moved:
        return
    if VENV.exists():
        say(f"{VENV} was made elsewhere or does not work; it is made again.")
    python = find_python()
    if output([*python, "-c", "import ensurepip, venv"], environment())[0] != 0:
        major, minor = version_of(python) or OLDEST
        install_packages((f"python{major}.{minor}-venv",), "to make the virtual environment")
    say(f"making the virtual environment {VENV}")
    run([*python, "-m", "venv", "--clear", str(VENV)], "The virtual environment was not made.")
    stamp.clear()


def install_python_packages() -> None:
    """Install the locked packages and Lineclear itself, each only when it changed.

    Raises:
        SetupError: The lock is not there, or pip failed.
    """
    try:
        lock = LOCK.read_bytes()
        project = (ROOT / "pyproject.toml").read_bytes()
    except OSError as error:
        raise SetupError(f"{error.filename} cannot be read: {error.strerror}.") from error
    stamp = read_stamp()
    make_venv(stamp)
    stamp["root"] = str(ROOT)
    pip = [program("python"), "-m", "pip", "install", "--quiet"]
    if stamp.get("lock") != digest(lock):
        say("installing the locked packages (about 150 MB the first time)")
        run(
            [*pip, "--require-hashes", "--requirement", str(LOCK)],
            "The locked packages were not installed.",
        )
        stamp["lock"] = digest(lock)
        write_stamp(stamp)
    if stamp.get("project") != digest(project):
        say("installing Lineclear in place")
        run(
            [*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
            "Lineclear itself was not installed.",
        )
        stamp["project"] = digest(project)
        write_stamp(stamp)


# --- The system's packages --------------------------------------------------------------------


def is_debian() -> bool:
    """Whether packages here are Debian's or Ubuntu's."""
    try:
        release = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return False
    words = [
        word.strip('"')
        for line in release.splitlines()
        if line.startswith(("ID=", "ID_LIKE="))
        for word in line.partition("=")[2].split()
    ]
    return bool({"debian", "ubuntu"} & set(words)) and shutil.which("apt-get") is not None


def missing_packages(names: tuple[str, ...]) -> list[str]:
    """Those of the named Debian packages that are not installed.

    Ubuntu 24.04 renamed some libraries to NAMEt64; either name counts.
    """
    asked = [*names, *(f"{name}t64" for name in names)]
    text = output(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *asked])[1]
    found = {line.split()[0] for line in text.splitlines() if line.endswith(" installed")}
    return [name for name in names if not found & {name, f"{name}t64"}]


def root_command() -> list[str] | None:
    """What to put before a command that needs root: nothing as root, sudo, or None without."""
    if os.geteuid() == 0:  # type: ignore[attr-defined,unused-ignore]
        return []
    if shutil.which("sudo") and output(["sudo", "-n", "true"])[0] == 0:
        return ["sudo", "-n"]
    return None


def install_packages(names: tuple[str, ...], purpose: str) -> bool:
    """Install those of the named Debian packages that are missing, saying what and why.

    Returns:
        Whether all of them are there now. Where they cannot be installed, the command that would
        do it has been printed.
    """
    if not is_debian():
        return False
    missing = missing_packages(names)
    if not missing:
        return True
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *missing]
    by_hand = f"apt-get update && {shlex.join(install)}"
    prefix = root_command()
    if prefix is None:
        say(f"these Debian packages are missing, {purpose}: {' '.join(missing)}")
        say(f"they need root, so this goes on without. To install them: sudo sh -c '{by_hand}'")
        return False
    say(f"installing Debian packages, {purpose}: {' '.join(missing)}")
    # Not in the environment: sudo would drop it.
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    options = ["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Dpkg::Use-Pty=0"]
    code, text = 0, ""
    for arguments in (["update"], install[1:]):
        code, text = output([*apt, *options, *arguments], seconds=1200)
    if code != 0:
        print(text, file=sys.stderr)
        say(f"apt-get failed (exit code {code}); this goes on without. By hand: {by_hand}")
    return code == 0


def qt_problem(env: dict[str, str]) -> str:
    """Why Qt does not start in that environment: the last line it printed; empty when it does."""
    code, text = output([program("python"), "-c", QT_PROBE], env)
    if code == 0:
        return ""
    lines = text.strip().splitlines()
    return lines[-1] if lines else f"exit code {code}"


def qt_environment(*, complete: bool) -> dict[str, str]:
    """The environment in which Qt starts: as it is, else offscreen with a word about it.

    Args:
        complete: All of Qt's libraries are known to be there, so nothing needs a trial.

    Raises:
        SetupError: Qt does not even start offscreen.
    """
    env = environment()
    if complete or not sys.platform.startswith("linux"):
        return env
    if not qt_problem(env):
        return env
    env["QT_QPA_PLATFORM"] = "offscreen"
    problem = qt_problem(env)
    if problem:
        raise SetupError(
            f"Qt does not start here: {problem}. Install its libraries (by their Debian names: "
            f"{' '.join(QT_PACKAGES)}) and run this again."
        )
    say("Qt cannot open a window here; this goes on offscreen.")
    return env


# --- The commands -----------------------------------------------------------------------------


def set_up(*, desktop: bool, system_packages: bool) -> dict[str, str]:
    """Do all the set-up that is missing.

    Args:
        desktop: Also what the end-to-end tests need.
        system_packages: Whether Debian packages may be installed.

    Returns:
        The environment for programs that use Qt.
    """
    complete = False
    if system_packages and sys.platform.startswith("linux"):
        names = (*QT_PACKAGES, *DESKTOP_PACKAGES) if desktop else QT_PACKAGES
        purpose = "the libraries and the font that Qt loads"
        if desktop:
            purpose += ", and the virtual desktop of the end-to-end tests"
        complete = install_packages(names, purpose)
    install_python_packages()
    return qt_environment(complete=complete)


def run_attached(argv: list[str], env: dict[str, str], folder: Path = ROOT) -> int:
    """Run a program in the foreground; Ctrl-C is its own affair, and its exit code is ours."""
    try:
        child = subprocess.Popen(argv, cwd=str(folder), env=env)
    except OSError as error:
        raise SetupError(f"{argv[0]} cannot be started: {error.strerror}.") from error
    while True:
        try:
            code = child.wait()
        except KeyboardInterrupt:
            continue
        return code if code >= 0 else 128 - code


def workers() -> int:
    """How many processes run tests: two for each core, since most tests wait for others."""
    return 2 * (os.cpu_count() or 1)


def run_tests(
    env: dict[str, str],
    *,
    quick: bool,
    bundle: bool,
    pytest_arguments: list[str],
    since: str | None = None,
) -> int:
    """Run every check in turn, up to the first that fails.

    Args:
        env: The environment for programs that use Qt.
        quick: Leave out the stress and end-to-end tests, and those of what is built.
        bundle: Build all that is published and test it, also when quick. A whole run does when
            packaging files changed; tests that are chosen by arguments of pytest build it only
            when they come to it.
        pytest_arguments: Passed on.
        since: The commit that was tested last; None: it is looked for.

    Returns:
        The exit code of the check that failed, or 0.
    """
    python = program("python")
    # A file stays on one worker: its tests share what is dear to make, as the frozen bundle. Files
    # go in the order of tests/conftest.py, not those of most tests first: these are the quick ones.
    pytest = [python, "-m", "pytest", "-n", str(workers()), "--dist", "loadfile"]
    pytest += ["--no-loadscope-reorder"]
    why = ""
    if not (bundle or quick or pytest_arguments):
        bundle, why = changed.verdict(ROOT, since)
        say(why)
        pytest += [] if bundle else ["-m", "not bundle"]
    elif quick:
        pytest += ["-m", f"not stress and not e2e{'' if bundle else ' and not bundle'}"]
    build = [python, str(ROOT / "packaging" / "build.py"), "--no-system-packages"]
    build += ["--output", str(RELEASE), "--work", str(RELEASE.parent), "--rounds", "3"]
    steps = [
        ("ruff check", [python, "-m", "ruff", "check"]),
        ("ruff format", [python, "-m", "ruff", "format", "--check"]),
        ("mypy", [python, "-m", "mypy"]),
        # A call of its own: as part of the first, the folder would hide PyPI's `packaging`.
        ("mypy packaging", [python, "-m", "mypy", "--no-explicit-package-bases", *SCRIPTS]),
        ("lint-imports", [program("lint-imports"), "--no-logo"]),
        ("pytest", [*pytest, *pytest_arguments]),
    ]
    if bundle:
        steps.insert(-1, ("build", build))
        env = {**env, "LINECLEAR_RELEASE": str(RELEASE)}
    taken = []
    for name, argv in steps:
        say(f"{name} ...")
        begin = time.monotonic()
        code = run_attached(argv, env)
        taken.append(f"{name} {time.monotonic() - begin:.1f} s")
        if code != 0:
            say(f"{name} failed with exit code {code} ({', '.join(taken)}).")
            return code
    say(f"all checks passed ({', '.join(taken)}).")
    if why and not bundle:
        say(why)
    return 0


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The command with its options, and the arguments passed on to what it runs."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--no-system-packages",
        action="store_true",
        help="install nothing with apt-get, not even as root",
    )
    parser = argparse.ArgumentParser(
        prog="dev.py", description="Set up Lineclear in this clone, then run its tests or its demo."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add = functools.partial(commands.add_parser, parents=[shared])
    add("setup", help="only set up")
    test = add("test", help="set up and run all checks; what follows -- goes to pytest")
    test.add_argument(
        "--quick", action="store_true", help="leave out stress, end-to-end and bundle tests"
    )
    test.add_argument(
        "--bundle", action="store_true", help="build all that is published, also with --quick"
    )
    test.add_argument(
        "--since",
        metavar="COMMIT",
        help=f"what was tested last, also ${changed.SINCE}: a whole run builds what is published"
        " only when packaging files changed since (default: where this branch left the main one,"
        " else the commit before)",
    )
    add("texts", help="set up and gather the window's texts; other arguments go to texts.py")
    add("demo", help="set up and start the demo; other arguments go to `lineclear demo`")
    own, passed = argv, []
    if "--" in argv:
        at = argv.index("--")
        own, passed = argv[:at], argv[at + 1 :]
    options, unknown = parser.parse_known_args(own)
    if unknown and options.command not in ("demo", "texts"):
        parser.error(f"unknown arguments: {' '.join(unknown)}")
    return options, [*unknown, *passed]


def main(argv: list[str]) -> int:
    """Do what the command line says; the exit code."""
    options, passed = parse(argv)
    try:
        env = set_up(
            desktop=options.command == "test", system_packages=not options.no_system_packages
        )
        if options.command == "test":
            return run_tests(
                env,
                quick=options.quick,
                bundle=options.bundle,
                pytest_arguments=passed,
                since=options.since,
            )
        if options.command == "texts":
            return run_attached([program("python"), TEXTS, *passed], env)
        if options.command == "demo":
            return run_attached([program("lineclear"), "demo", *passed], env)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    say(f"ready: {program('lineclear')} --help")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
