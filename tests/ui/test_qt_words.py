"""Qt's own words follow the language of the window."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = """
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication
from lineclear.ui import qt_words
app = QApplication([])
done = qt_words.translate(app)
print(done, QCoreApplication.translate("QPlatformTheme", "Cancel"), end="")
"""


@pytest.mark.parametrize(
    "asked, said", [("de", "True Abbrechen"), ("qps", "False Cancel"), ("fr", "False Cancel")]
)
def test_qt_speaks_the_language_of_the_window_or_english(asked, said, tmp_path):
    texts = [sys.executable, str(ROOT / "packaging" / "texts.py"), "--pseudo", str(tmp_path)]
    subprocess.run(texts, check=True)
    shutil.copytree(tmp_path / "qps", tmp_path / "de")
    environment = {
        **os.environ,
        "LINECLEAR_LOCALE": str(tmp_path),
        "LANGUAGE": asked,
        "QT_QPA_PLATFORM": "offscreen",
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (said, 0), done.stderr
