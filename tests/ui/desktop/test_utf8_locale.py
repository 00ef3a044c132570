"""Qt has nothing to say about the locale, and agents get the person's own."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="C.UTF-8 is Linux's")

SCRIPT = """
import json, os
def kept():
    return {name: value for name, value in os.environ.items() if name[:3] in ("LAN", "LC_")}
before = kept()
from PySide6.QtWidgets import QApplication
from lineclear.ui.desktop.utf8_locale import utf8_locale
with utf8_locale():
    app = QApplication([])
import locale
print(json.dumps([before == kept(), locale.nl_langinfo(locale.CODESET)]))
"""


@pytest.mark.parametrize(
    "language",
    [
        {},
        {"LANG": "C.UTF-8"},
        {"LANG": "C"},
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "LANG": "C.UTF-8"},
        {"LANG": "xx_YY.UTF-8", "LC_TIME": "xx_YY.UTF-8"},
        {"LC_CTYPE": "UTF-8"},
    ],
    ids=str,
)
def test_qt_starts_without_a_word_and_the_environment_stays(language):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LANG", "LC_", "PYTHONUTF8", "PYTHONCOERCE"))
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        # As in a bundle, whose starter takes no other locale by itself.
        env={**env, "QT_QPA_PLATFORM": "offscreen", "PYTHONCOERCECLOCALE": "0", **language},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '[true, "UTF-8"]\n'
