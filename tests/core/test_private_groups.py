"""Who else may write a file: real accounts, in files of accounts that only one process sees."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.private_groups import others_may_write

PASSWD = """
root:x:0:0:root:/root:/bin/sh
alone:x:4001:4001::/:/bin/sh
listed:x:4002:4002::/:/bin/sh
visited:x:4003:4003::/:/bin/sh
guest:x:4004:4004::/:/bin/sh
host:x:4005:4005::/:/bin/sh
lodger:x:4006:4005::/:/bin/sh
staff:x:4007:100::/:/bin/sh
twice:x:4008:4008::/:/bin/sh
nameless:x:4009:4999::/:/bin/sh
"""
GROUP = """
root:x:0:
alone:x:4001:
listed:x:4002:listed
visited:x:4003:guest
guest:x:4004:
host:x:4005:
users:x:100:
twice:x:4008:
also:x:4008:guest
"""
PROGRAM = """
import os, sys
from lineclear.core.private_groups import others_may_write
print(others_may_write(os.stat(sys.argv[1])))
"""
needs_accounts = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux, to set accounts up"
)


def others_may(folder: Path, uid: int, gid: int, mode: int, kind: str) -> bool:
    for name, text in (("passwd", PASSWD), ("group", GROUP)):
        (folder / name).write_text(text.lstrip())
    path = folder / "it"
    path.mkdir() if kind == "folder" else path.touch()
    os.chown(path, uid, gid)
    path.chmod(mode)
    mounts = 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group'
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', str(folder),
         sys.executable, "-c", PROGRAM, str(path)],
        capture_output=True, text=True, check=True, timeout=30,
    )  # fmt: skip
    return {"True": True, "False": False}[ran.stdout.strip()]


@needs_accounts
@pytest.mark.parametrize("kind,mode", [("file", 0o664), ("folder", 0o775)])
@pytest.mark.parametrize(
    "uid,gid,others",
    [
        (4001, 4001, False),  # alone in a group of the own name
        (4002, 4002, False),  # and named in it
        (0, 0, False),
        (4003, 4003, True),  # somebody else was added to it
        (4005, 4005, True),  # it is somebody else's first group, too
        (4007, 100, True),  # everybody's group
        (4001, 4004, True),  # another's group
        (4008, 4008, True),  # a second name of the group has another member
        (4009, 4999, True),  # no such group
        (4001, 5000, True),
        (4999, 4001, True),  # no such user
    ],
)
def test_a_group_is_nobody_else_only_if_the_owner_is_alone_in_it(
    tmp_path, *, kind, mode, uid, gid, others
):
    assert others_may(tmp_path, uid, gid, mode, kind) is others


@needs_accounts
@pytest.mark.parametrize("mode", [0o602, 0o666, 0o667])
def test_what_all_may_write_is_writable_by_others_whatever_the_group(tmp_path, mode):
    assert others_may(tmp_path, 4001, 4001, mode, "file")


def test_what_only_the_owner_may_write_needs_no_look(tmp_path):
    tmp_path.chmod(0o755)
    assert not others_may_write(tmp_path.stat())
