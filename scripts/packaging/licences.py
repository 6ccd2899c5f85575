#!/usr/bin/env python3
"""Lists the crates that are linked into the library and wgclc, with their licences and notices.

Standard input is the output of `cargo metadata --format-version 1` for the target platform. Identical licence texts are printed once.
"""

import collections
import json
import pathlib
import sys

ROOTS = {"wgcl", "wgclc"}
NAMES = ("licen", "copying", "notice", "copyright", "unlicense")


def linked(metadata):
    """The packages that ROOTS depend on at run time, sorted by name. Dependencies for building or testing are not included."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] in ROOTS and package["source"] is None]
    seen = set(waiting)
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            if dependency["pkg"] not in seen and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                seen.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return sorted((packages[id] for id in seen if packages[id]["source"]), key=lambda package: package["name"])


def notices(package):
    """The licence texts of a package."""
    folder = pathlib.Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.lower().startswith(NAMES):
            yield file.read_text(encoding="utf-8", errors="replace").strip()


def main():
    packages = linked(json.load(sys.stdin))
    texts = collections.defaultdict(list)
    print("Rust crates that are part of the library or wgclc:\n")
    for package in packages:
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or package['license_file']}")
        for text in notices(package):
            texts[text].append(name)
    for text, names in texts.items():
        print(f"\n{'-' * 78}\n{', '.join(names)}:\n\n{text}")


if __name__ == "__main__":
    main()
