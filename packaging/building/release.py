"""The whole build, in the virtual environment: what `packaging/build.py` does once it is set up."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import dev

from building import archive, contents, debian, icons, identity, macos, materials, notes, trial
from building import windows as windows_installer
from building.report import Report


def unpack_metadata(wheel: Path, work: Path) -> Path:
    """Unpack into WORK what a wheel says of its program; the folder `NAME-VERSION.dist-info`."""
    target = work / "metadata"
    shutil.rmtree(target, ignore_errors=True)
    with zipfile.ZipFile(wheel) as packed:
        told = [name for name in packed.namelist() if ".dist-info/" in name]
        # These two are for an installer.
        told = [name for name in told if Path(name).name not in ("RECORD", "WHEEL")]
        packed.extractall(target, told)
    (folder,) = target.iterdir()
    return folder


def freeze(output: Path, work: Path, icons: Path, wheel: Path) -> Path:
    """Make the folder of the two programs; its path."""
    bundle = output / identity.NAME
    shutil.rmtree(bundle, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR"),
        *("--distpath", str(output), "--workpath", str(work / "frozen")),
        str(dev.ROOT / "packaging" / "lineclear.spec"),
    ]
    epoch = str(identity.changed_at())
    environment = {**os.environ, "LINECLEAR_ICONS": str(icons), "SOURCE_DATE_EPOCH": epoch}
    environment["LINECLEAR_METADATA"] = str(unpack_metadata(wheel, work))
    environment["PYTHONHASHSEED"] = "1"
    subprocess.run(command, cwd=dev.ROOT, env=environment, check=True)
    strip_python(bundle)
    contents.copy_licences(bundle)
    return bundle


def strip_python(bundle: Path) -> None:
    """Take the debugger's symbols out of a Python that was built with them; on Linux.

    Python's own files alone: `strip` spoils libraries whose paths were patched, as Qt's are.
    """
    strip = shutil.which("strip")
    if not sys.platform.startswith("linux") or strip is None:
        return
    internal = bundle / "_internal"
    for path in (*internal.glob("libpython3*.so*"), *internal.glob("python3*/lib-dynload/*.so")):
        if not path.is_symlink() and b"\0.symtab\0" in path.read_bytes():
            subprocess.run([strip, "--strip-unneeded", str(path)], check=True)


def make_distributions(output: Path) -> list[Path]:
    """Make the wheel and the source distribution."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(identity.changed_at())}
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(output)]
    subprocess.run(build, cwd=dev.ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    name = f"{identity.NAME}-{identity.version()}"
    return [output / f"{name}-py3-none-any.whl", output / f"{name}.tar.gz"]


def make_packages(output: Path, work: Path, bundle: Path, icons: Path) -> tuple[list[Path], str]:
    """Make what this system installs from; what was left out, and why, else an empty text."""
    if sys.platform == "win32":
        made = windows_installer.build(output, bundle, icons)
        return ([], "The installer: Inno Setup 6 is not here.") if made is None else ([made], "")
    if sys.platform == "darwin":
        return [macos.build(output, work, output / macos.APP)], ""
    packages = [archive.build(output, work, bundle, icons)]
    if shutil.which("dpkg-deb") is None:
        return packages, "The Debian package: dpkg-deb is not here."
    return [*packages, debian.build(output, work, bundle, icons)], ""


def build(options: argparse.Namespace) -> int:
    """Build everything; the exit code."""
    output, work = options.output.resolve(), options.work.resolve()
    output.mkdir(parents=True, exist_ok=True)
    # One moment for all that is made, though a commit may come meanwhile.
    os.environ["SOURCE_DATE_EPOCH"] = str(identity.changed_at())
    report = Report()
    drawn = work / "icons"
    dev.say("icons ...")
    icons.make(drawn)
    dev.say("wheel and source distribution ...")
    wheel, source = make_distributions(output)
    report.files += [wheel, source]
    dev.say("the frozen programs ...")
    bundle = freeze(output, work, drawn, wheel)
    report.figures["unpacked_bytes"] = trial.folder_bytes(bundle)
    dev.say("packages ...")
    packages, missing = make_packages(output, work, bundle, drawn)
    report.files += packages
    report.left_out += [missing] if missing else []
    for made in packages:
        kind = "deb" if made.suffix == ".deb" else "archive"
        report.figures[f"{kind}_bytes"] = made.stat().st_size
    report.files.append(materials.write(output, bundle))
    told = notes.of(identity.version(), dev.ROOT / "CHANGELOG.md")
    page = output / "RELEASE_NOTES.md"
    page.write_text(notes.markdown(told, identity.version()), encoding="utf-8")
    report.files.append(page)
    if options.no_trial:
        report.left_out.append("The trial of the frozen program: --no-trial.")
    else:
        dev.say("self-check and start-up of the frozen window ...")
        try_out(report, bundle, options.rounds)
    archive.write_sums(output, report.files)
    report.write(output)
    print((output / "REPORT.md").read_text(encoding="utf-8"))
    return 1 if report.excesses() else 0


def try_out(report: Report, bundle: Path, rounds: int) -> None:
    """Run the self-check of the frozen window, and time it beside the unfrozen one."""
    suffix = ".exe" if sys.platform == "win32" else ""
    programs = {
        "frozen": [str(bundle / f"{identity.WINDOW}{suffix}")],
        "unfrozen": [dev.program(identity.WINDOW)],
    }
    with trial.display() as (env, where):
        report.figures["self_check"] = f"passed on {where}"
        taken = trial.first_window(programs, env, rounds)
    for name, timing in taken.items():
        report.figures[f"first_window_{name}_s"] = round(timing.least, 3)
        report.figures[f"first_window_{name}_median_s"] = round(timing.median, 3)
    if taken:
        # The least of each: whatever else the machine does can only add.
        ratio = taken["frozen"].least / taken["unfrozen"].least
        report.figures["first_window_ratio"] = round(ratio, 2)
