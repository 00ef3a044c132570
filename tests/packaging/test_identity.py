"""Who the program is stands in one place, and what is still to be set is said."""

import pytest

from tests.packaging.conftest import ROOT


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    """As before the first release, whoever published since."""
    from building import identity

    monkeypatch.delenv("DEBFULLNAME", raising=False)
    monkeypatch.delenv("DEBEMAIL", raising=False)
    monkeypatch.setattr(identity, "APP_ID", identity._PLACEHOLDER_ID)
    monkeypatch.setattr(identity, "MAINTAINER", "Somebody <somebody@example.invalid>")


def test_the_identifier_and_the_publisher_stand_in_one_file(monkeypatch):
    from building import identity

    monkeypatch.undo()
    for text in (identity.APP_ID, identity.PUBLISHER):
        found = [
            path.relative_to(ROOT).as_posix()
            for folder in ("app", "packaging", "resources", "tests")
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
            and "__pycache__" not in path.parts
            and text.encode() in path.read_bytes()
        ]
        assert found == ["packaging/building/identity.py"]


def test_placeholders_are_named_until_the_publisher_sets_them(monkeypatch):
    from building import identity

    assert [told.partition(" stands for ")[0] for told in identity.unsettled()] == [
        identity.APP_ID,
        identity.MAINTAINER,
    ]
    monkeypatch.setenv("DEBFULLNAME", "A Distributor")
    monkeypatch.setenv("DEBEMAIL", "packages@example.org")
    assert [told.split()[0] for told in identity.unsettled()] == [identity.APP_ID]
    monkeypatch.setattr(identity, "APP_ID", "org.example.Lineclear")
    assert identity.unsettled() == []


def test_the_builds_report_says_what_is_still_to_be_set(tmp_path):
    from building import identity
    from building.report import Report

    Report().write(tmp_path)
    page = (tmp_path / "REPORT.md").read_text()
    for told in identity.unsettled():
        assert f"\nTo be set before a release: {told}\n" in page
