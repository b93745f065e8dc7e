"""The release build over an older one, with a stand-in for the compiler that only says what it found."""

import pathlib
import shutil
import subprocess

import pytest

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "bin/lib"

COMPILER = """#!/bin/sh
case $1 in
    --version) echo "Swift version 6.3"; exit ;;
esac
if [ -e .build/release ]; then echo "over an older one" >>calls; else echo "from nothing" >>calls; fi
mkdir -p .build/machine/release
ln -sfn machine/release .build/release
[ -e broken ] && exit 1
echo >.build/release/enfilade
chmod +x .build/release/enfilade
"""


@pytest.fixture
def build(tmp_path):
    """Builds, and says what the compiler found each time so far."""
    for name in ("Sources", "migrations", "openapi", "tools", "lib"):
        (tmp_path / name).mkdir()
    (tmp_path / "Package.swift").write_text("")
    (tmp_path / "Sources/Room.swift").write_text("first")
    (tmp_path / "tools/swift").write_text(COMPILER)
    (tmp_path / "tools/swift").chmod(0o755)
    for name in ("say.sh", "build.sh"):
        shutil.copy(LIBRARY / name, tmp_path / "lib")
    script = "set -euo pipefail; PATH=$PWD/tools:$PATH; source lib/say.sh; source lib/build.sh; build_release"

    def run():
        subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=False)
        return (tmp_path / "calls").read_text().splitlines()

    return run


def test_a_release_is_built_once_and_from_nothing_when_a_source_changed(build, tmp_path):
    assert build() == ["from nothing"]
    assert build() == ["from nothing"]
    (tmp_path / "Sources/Room.swift").write_text("second, longer")
    assert build() == ["from nothing"] * 2


def test_a_build_that_was_cut_short_goes_on_where_it_was_and_a_mended_one_does_not(build, tmp_path):
    (tmp_path / "broken").touch()
    assert build() == ["from nothing"]
    assert build() == ["from nothing", "over an older one"]
    (tmp_path / "broken").unlink()
    (tmp_path / "Sources/Room.swift").write_text("mended, longer")
    assert build()[2:] == ["from nothing"]
