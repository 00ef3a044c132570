"""The software bill of materials of a bundle, as CycloneDX 1.6 in JSON."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from PySide6.QtCore import qVersion

from building import archive, contents, identity

_CLASSIFIED = "License :: OSI Approved :: "


def _licences(distribution: metadata.Distribution) -> list[License]:
    """What a distribution says of its licence: the expression, else the field, else classifiers."""
    about = distribution.metadata
    stated = [about[name] for name in ("License-Expression", "License") if name in about]
    told = stated[0] if stated else ""
    if not told or "\n" in told:
        classified = [
            each.removeprefix(_CLASSIFIED)
            for each in about.get_all("Classifier", [])
            if each.startswith(_CLASSIFIED)
        ]
        told = ", ".join(classified)
    return [LicenseFactory().make_from_string(told)] if told else []


def _distribution(found: metadata.Distribution) -> Component:
    name = found.metadata["Name"]
    key = contents.key_of(name)
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=f"pypi:{key}",
        name=name,
        version=found.version,
        description=found.metadata["Summary"],
        licenses=_licences(found),
        purl=PackageURL("pypi", name=key, version=found.version),
    )


def _library(found: contents.SystemLibrary) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=f"file:{found.file.name}",
        name=found.file.name,
        version=found.version,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=archive.sha256(found.file))],
        purl=PackageURL("deb", "debian", found.package, found.version),
    )


def bill(bundle: Path) -> str:
    """The bill of a bundle.

    It names the Python distributions with their Qt, Python itself, the starter that PyInstaller
    puts before the programs, and each library that was copied from the system.
    """
    version = identity.version()
    program = Component(
        type=ComponentType.APPLICATION,
        bom_ref=identity.NAME,
        name=identity.NAME,
        version=version,
        description=identity.summary(),
        licenses=[LicenseFactory().make_from_string(str(identity.project()["license"]))],
        purl=PackageURL("pypi", name=identity.NAME, version=version),
    )
    made_of = contents.distributions()
    parts = {f"pypi:{contents.key_of(each.metadata['Name'])}": each for each in made_of}
    known = {ref.removeprefix("pypi:") for ref in parts}
    python = Component(
        type=ComponentType.PLATFORM,
        bom_ref="cpython",
        name="CPython",
        version=contents.python_version(),
        licenses=[LicenseFactory().make_from_string("PSF-2.0")],
        purl=PackageURL("generic", name="cpython", version=contents.python_version()),
    )
    qt = Component(
        type=ComponentType.FRAMEWORK,
        bom_ref="qt",
        name="Qt",
        version=qVersion(),
        licenses=[LicenseFactory().make_from_string("LGPL-3.0-only")],
        purl=PackageURL("generic", name="qt", version=qVersion()),
    )
    starter = _distribution(metadata.distribution("pyinstaller"))
    components = {ref: _distribution(each) for ref, each in parts.items()}
    libraries = [_library(each) for each in contents.system_libraries(bundle)]
    told = Bom(
        components=[*components.values(), qt, python, starter, *libraries],
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{identity.APP_ID}/{version}"),
    )
    told.metadata.component = program
    told.metadata.timestamp = datetime.fromtimestamp(identity.changed_at(), UTC)
    told.register_dependency(program, [*components.values(), qt, python, starter, *libraries])
    for ref, each in parts.items():
        needed = [components[f"pypi:{name}"] for name in contents.needs(each, known)]
        if ref == contents.key_of(f"pypi:{contents.QT}"):
            needed.append(qt)
        told.register_dependency(components[ref], needed)
    return JsonV1Dot6(told).output_as_string(indent=2) + "\n"


def fault(text: str) -> str:
    """Why a bill is no CycloneDX 1.6; empty when it is."""
    found = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return "" if found is None else str(found)


def write(output: Path, bundle: Path) -> Path:
    """Write the bill into OUTPUT, checked against the published schema; its path.

    Raises SystemExit when it does not fit the schema.
    """
    text = bill(bundle)
    problem = fault(text)
    if problem:
        raise SystemExit(f"The bill of materials does not fit the schema: {problem}")
    made = output / f"{identity.NAME}-{identity.version()}.cdx.json"
    made.write_text(text, encoding="utf-8")
    return made
