"""The built package contains the pages."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_contains_the_pages_and_their_manifest(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "zataku/server/web/.vite/manifest.json" in names
    assert [name for name in names if name.startswith("zataku/server/web/assets/") and name.endswith(".js.br")]
    assert "zataku/server/pages/texts.toml" in names
