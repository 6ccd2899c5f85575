#!/usr/bin/env python3
"""Fills in the manifests of winget, scoop and Homebrew for the packages in a directory.

The values come from [workspace.package] in Cargo.toml and from the packages. The address of a package is
REPOSITORY/releases/download/vVERSION/FILE. A manifest is written only if its package exists. The names of the written files are printed.
"""

import argparse
import hashlib
import pathlib
import re
import sys
import tomllib
import uuid

HERE = pathlib.Path(__file__).resolve().parent
# Template, output, and the package that it needs.
MANIFESTS = [
    ("winget/version.yaml", "winget/wgcl.wgcl.yaml", "msi"),
    ("winget/installer.yaml", "winget/wgcl.wgcl.installer.yaml", "msi"),
    ("winget/locale.yaml", "winget/wgcl.wgcl.locale.en-US.yaml", "msi"),
    ("scoop/wgcl.json", "scoop/wgcl.json", "zip"),
    ("homebrew/wgcl.rb", "homebrew/wgcl.rb", "source"),
]


def package_values(kind, path):
    return {kind: path.name, f"{kind}_stem": path.stem, f"{kind}_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def values(project, packages):
    """Returns the values of the placeholders, and the kinds of packages that exist."""
    version, address = project["version"], project["repository"]
    licences = project["license"].split(" OR ")
    found = {
        "version": version,
        "address": address,
        "publisher": project["authors"][0].partition(" <")[0],
        "license": project["license"],
        "licenses": ", ".join(f'"{name}"' for name in licences),
        "description": project["description"],
        "tags": "\n".join(f"  - {word}" for word in project["keywords"]),
        # The same value as `identifier product` in foreign.sh.
        "product_code": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{address}/{version}/product")).upper(),
    }
    names = {"msi": f"wgcl-{version}-x86_64.msi", "zip": f"wgcl-{version}-x86_64-windows.zip", "source": f"wgcl-{version}-source.tar.gz"}
    kinds = {kind for kind, name in names.items() if (packages / name).exists()}
    for kind in kinds:
        found |= package_values(kind, packages / names[kind])
    return found, kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manifest", type=pathlib.Path, required=True, help="the Cargo.toml of the workspace")
    parser.add_argument("--packages", type=pathlib.Path, required=True, help="the directory of the packages")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the output directory")
    args = parser.parse_args()
    project = tomllib.loads(args.manifest.read_text())["workspace"]["package"]
    found, kinds = values(project, args.packages)
    for template, name, kind in MANIFESTS:
        if kind not in kinds:
            continue
        text = re.sub(r"@([a-z0-9_]+)@", lambda match: found[match[1]], (HERE / template).read_text())
        path = args.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path)
    if not kinds:
        sys.exit(f"{args.packages}: no package for a manifest")


if __name__ == "__main__":
    main()
