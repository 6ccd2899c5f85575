#!/usr/bin/env python3
"""Creates a software bill of materials in CycloneDX's JSON format: the crates that are linked into the library and wgclc.

Standard input is the output of `cargo metadata --format-version 1` for the target platform. The hashes are read from Cargo.lock. Equal inputs give equal bytes.
"""

import argparse
import datetime
import json
import pathlib
import sys
import tomllib
import uuid

from licences import linked


def checksums(lock):
    """The SHA-256 sums of the crates, by name and version."""
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in packages if "checksum" in package}


def reference(package):
    """The package URL of a crate, which also identifies its component in the bill of materials."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    made = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package["license"]:
        # Old crates separate alternative licences by a slash. CycloneDX requires OR.
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (package["name"], package["version"]) in sums:
        made["hashes"] = [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=pathlib.Path, required=True, help="the path of Cargo.lock")
    parser.add_argument("--time", type=int, required=True, help="the time of the release, in seconds since 1970")
    args = parser.parse_args()
    metadata = json.load(sys.stdin)
    sums = checksums(args.lock)
    project = next(package for package in metadata["packages"] if package["name"] == "wgcl" and package["source"] is None)
    crates = linked(metadata)
    names = {package["id"]: reference(package) for package in crates}
    workspace = {package["id"] for package in metadata["packages"] if package["source"] is None}
    edges, direct = [], set()
    for node in metadata["resolve"]["nodes"]:
        used = {names[dependency["pkg"]] for dependency in node["deps"] if dependency["pkg"] in names and any(kind["kind"] is None for kind in dependency["dep_kinds"])}
        if node["id"] in names:
            edges.append({"ref": names[node["id"]], "dependsOn": sorted(used)})
        elif node["id"] in workspace:
            direct |= used
    root = component(project, sums)
    edges.append({"ref": root["bom-ref"], "dependsOn": sorted(direct)})
    components = [component(package, sums) for package in sorted(crates, key=lambda package: (package["name"], package["version"]))]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(args.time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": root,
            "authors": [{"name": author.split(" <")[0]} for author in project["authors"]],
        },
        "components": components,
        "dependencies": sorted(edges, key=lambda edge: edge["ref"]),
    }
    # The serial number is computed from the contents, so that equal inputs give the same number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    json.dump({"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "serialNumber": f"urn:uuid:{serial}", **document}, sys.stdout, indent=2)
    print()


main()
