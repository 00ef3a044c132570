"""The software bill of materials of a bundle, as CycloneDX 1.6 in JSON."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from cyclonedx.contrib.license.exceptions import InvalidSpdxLicenseException
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.component_evidence import ComponentEvidence, Occurrence
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from PySide6.QtCore import qVersion

from building import archive, contents, debian_copyright, identity, owners

_CLASSIFIED = "License :: OSI Approved :: "
UNKNOWN = "NOASSERTION"
"""How a bill says that nobody looked: SPDX's word for it."""


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


def _of_package(found: contents.SystemLibrary) -> list[License]:
    """What the copyright file of a Debian package names; that of its whole source package."""
    told = found.copyright_file()
    text = told.read_text(encoding="utf-8", errors="replace") if told.is_file() else ""
    return [_licence(name) for name in debian_copyright.named(text) or [UNKNOWN]]


def _licence(name: str) -> License:
    try:
        return LicenseFactory().make_with_id(name)
    except InvalidSpdxLicenseException:
        return LicenseFactory().make_with_name(name)


def _library(found: contents.SystemLibrary) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=f"file:{found.file.name}",
        name=found.file.name,
        version=found.version,
        licenses=_of_package(found),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=archive.sha256(found.file))],
        purl=PackageURL("deb", "debian", found.package, found.version),
    )


def _stray(file: Path) -> Component:
    """A library of the machine that built, of which nothing is known but itself."""
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=f"file:{file.name}",
        name=file.name,
        licenses=[_licence(UNKNOWN)],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=archive.sha256(file))],
    )


def _icu(version: str) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=owners.ICU,
        name="ICU",
        version=version,
        description="International Components for Unicode, as they come with Qt",
        licenses=[_licence(owners.ICU_LICENCE)],
        purl=PackageURL("generic", name="icu", version=version),
    )


def _python() -> Component:
    return Component(
        type=ComponentType.PLATFORM,
        bom_ref=owners.CPYTHON,
        name="CPython",
        version=contents.python_version(),
        licenses=[LicenseFactory().make_from_string("PSF-2.0")],
        purl=PackageURL("generic", name="cpython", version=contents.python_version()),
    )


def _qt() -> Component:
    return Component(
        type=ComponentType.FRAMEWORK,
        bom_ref=owners.QT,
        name="Qt",
        version=qVersion(),
        licenses=[LicenseFactory().make_from_string("LGPL-3.0-only")],
        purl=PackageURL("generic", name="qt", version=qVersion()),
    )


def _program(version: str) -> Component:
    return Component(
        type=ComponentType.APPLICATION,
        bom_ref=identity.NAME,
        name=identity.NAME,
        version=version,
        description=identity.summary(),
        licenses=[LicenseFactory().make_from_string(str(identity.project()["license"]))],
        purl=PackageURL("pypi", name=identity.NAME, version=version),
    )


def bill(bundle: Path) -> str:
    """The bill of a bundle.

    It names the Python distributions with their Qt, Qt's ICU, Python itself, the starter that
    PyInstaller puts before the programs, and each library that was copied from the system; and of
    each of them its programs and shared libraries in the bundle, as occurrences.
    """
    version = identity.version()
    parts = {
        f"pypi:{contents.key_of(one.metadata['Name'])}": one for one in contents.distributions()
    }
    copied = {f"file:{one.file.name}": one for one in contents.system_libraries(bundle)}
    owned = owners.owners(bundle, parts, {one.file: ref for ref, one in copied.items()})
    files = {ref: path for path, ref in owned.items()}
    distributions = {ref: _distribution(one) for ref, one in parts.items()}
    qt = _qt()
    icu = [_icu(owners.icu_version(bundle))] if owners.ICU in files else []
    others = [qt, *icu, _python(), _distribution(metadata.distribution("pyinstaller"))]
    others += [_library(one) for one in copied.values()]
    strays = {ref for ref in files if ref.startswith("file:")} - copied.keys()
    others += [_stray(files[ref]) for ref in sorted(strays)]
    components = [*distributions.values(), *others]
    for component in components:
        component.evidence = _occurrences(bundle, owned, str(component.bom_ref.value))
    told = Bom(
        components=components,
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{identity.APP_ID}/{version}"),
    )
    program = _program(version)
    told.metadata.component = program
    told.metadata.timestamp = datetime.fromtimestamp(identity.changed_at(), UTC)
    told.register_dependency(program, components)
    told.register_dependency(qt, icu)
    known = {ref.removeprefix("pypi:") for ref in parts}
    for ref, one in parts.items():
        needed = [distributions[f"pypi:{name}"] for name in contents.needs(one, known)]
        if ref == contents.key_of(f"pypi:{contents.QT}"):
            needed.append(qt)
        told.register_dependency(distributions[ref], needed)
    return JsonV1Dot6(told).output_as_string(indent=2) + "\n"


def _occurrences(bundle: Path, owned: dict[Path, str], ref: str) -> ComponentEvidence | None:
    """Where a part is found in the bundle; None where it is no program or shared library."""
    places = [path.relative_to(bundle).as_posix() for path, owner in owned.items() if owner == ref]
    if not places:
        return None
    # Named, since the library sorts those without a name by chance.
    found = [Occurrence(bom_ref=f"at:{place}", location=place) for place in places]
    return ComponentEvidence(occurrences=found)


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
