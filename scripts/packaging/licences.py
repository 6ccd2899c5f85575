#!/usr/bin/env python3
"""Lists the software in the library and in wgclc, with licences and notices.

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
    return sorted((packages[id] for id in seen if packages[id]["source"]), key=lambda package: (package["name"], package["version"]))


def notices(package):
    """The licence texts of a package. Some packages contain none: the text is then that of their licence, with their authors."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and file.name.lower().startswith(NAMES)]
    if not files:
        return [standard_text(package["name"], package["license"] or "", package["authors"])]
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in files]


def standard_text(name, licence, authors):
    """The text of a licence that wgcl also has: Apache 2.0 or MIT."""
    root = pathlib.Path(__file__).resolve().parents[2]
    if "Apache-2.0" in licence:
        return (root / "LICENSE-APACHE").read_text(encoding="utf-8").strip()
    if "MIT" not in licence:
        sys.exit(f"{name} contains no licence text, and its licence `{licence}` is neither MIT nor Apache-2.0: add the text to licences.py")
    lines = (root / "LICENSE-MIT").read_text(encoding="utf-8").strip().splitlines()
    holders = ", ".join(author.split(" <")[0] for author in authors) or f"the authors of {name}"
    return "\n".join(f"Copyright (c) {holders}" if line.startswith("Copyright") else line for line in lines)


# Parts of the binaries that are not crates: Rust's standard library, and LLVM's unwinder if zig is the linker.
OTHERS = [
    ("Rust's standard library", "MIT OR Apache-2.0", ["The Rust Project Developers"]),
    ("LLVM libunwind", "Apache-2.0 WITH LLVM-exception", ["The LLVM Project"]),
]


def main():
    packages = linked(json.load(sys.stdin))
    texts = collections.defaultdict(list)
    print("Rust crates and other software in the library or wgclc:\n")
    for package in packages:
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or package['license_file']}")
        for text in notices(package):
            texts[text].append(name)
    for name, licence, authors in OTHERS:
        print(f"{name}: {licence}")
        texts[standard_text(name, licence, authors)].append(name)
    for text, names in texts.items():
        print(f"\n{'-' * 78}\n{', '.join(names)}:\n\n{text}")


if __name__ == "__main__":
    main()
