"""Release notes are one version's part of the changelog."""

import datetime as dt
from xml.etree import ElementTree as ET

import pytest

from tests.packaging.conftest import ROOT

SAMPLE = """\
# Changelog

## [Unreleased]

### Added

- A `queue`, which
  is **long**.
- Ends & beginnings.

## [0.2.0] - 2026-03-04

### Fixed

- Nothing.
"""


@pytest.fixture
def sample(tmp_path):
    place = tmp_path / "CHANGELOG.md"
    place.write_text(SAMPLE)
    return place


def test_a_version_has_its_own_notes(sample):
    from building import notes

    found = notes.of("0.2.0", sample)
    assert (found.version, found.date, found.text) == (
        "0.2.0",
        "2026-03-04",
        "### Fixed\n\n- Nothing.",
    )
    page = notes.markdown(found, "0.2.0")
    assert page == "# Lineclear 0.2.0, 2026-03-04\n\n### Fixed\n\n- Nothing.\n"


def test_a_version_without_notes_has_those_of_what_is_unreleased(sample):
    from building import notes

    found = notes.of("0.3.0", sample)
    assert (found.version, found.date) == ("Unreleased", None)
    assert found.items() == ["A queue, which is long.", "Ends & beginnings."]
    assert notes.markdown(found, "0.3.0").startswith("# Lineclear 0.3.0, not released yet\n")
    listed = ET.fromstring(notes.appstream(found))
    assert [each.text for each in listed] == ["A queue, which is long.", "Ends & beginnings."]


@pytest.mark.parametrize(
    "text, told",
    [
        ("# Changelog\n", "has neither a part"),
        ("## 0.2.0\n- x\n", "is no '## [VERSION] - YYYY-MM-DD'"),
        ("## [0.2.0] - March\n", "is no '## [VERSION] - YYYY-MM-DD'"),
    ],
)
def test_a_changelog_in_another_form_is_refused(tmp_path, text, told):
    from building import notes

    place = tmp_path / "CHANGELOG.md"
    place.write_text(text)
    with pytest.raises(SystemExit, match=r".") as refused:
        notes.of("0.1.0", place)
    assert told in str(refused.value)


def test_the_projects_changelog_is_in_order():
    from building import identity, notes

    found = notes.parts((ROOT / "CHANGELOG.md").read_text())
    assert found[0].version == "Unreleased"
    released = found[1:]
    days = [dt.date.fromisoformat(part.date or "") for part in released]
    assert days == sorted(days, reverse=True)
    assert notes.of(identity.version(), ROOT / "CHANGELOG.md").items() != []
