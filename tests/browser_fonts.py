"""Fonts for the browser of tests: the same on every machine, whatever is installed.

They come from packages of the `dev` group: DejaVu from matplotlib, and Noto Sans Thai.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

_FONTS = {
    "matplotlib": "mpl-data/fonts/ttf/DejaVu*.ttf",
    "fontpkg_noto_sans_thai": "files/*.ttf",
}
_GENERIC = {"serif": "DejaVu Serif", "sans-serif": "DejaVu Sans", "monospace": "DejaVu Sans Mono"}
_CONFIGURATION = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>{fonts}</dir>
<cachedir>{cache}</cachedir>
{aliases}
</fontconfig>
"""
_ALIAS = "<alias><family>{generic}</family><prefer><family>{font}</family></prefer></alias>"


def browser_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a browser that finds only these fonts, and no local settings.

    Copies of the fonts, fontconfig's configuration and its cache are written to `folder`.
    """
    fonts = folder / "fonts"
    fonts.mkdir()
    for package, pattern in _FONTS.items():
        for path in _package_folder(package).glob(pattern):
            shutil.copy(path, fonts)
    aliases = [_ALIAS.format(generic=name, font=font) for name, font in _GENERIC.items()]
    configuration = folder / "fonts.conf"
    configuration.write_text(
        _CONFIGURATION.format(fonts=fonts, cache=folder / "cache", aliases="\n".join(aliases)),
        encoding="utf-8",
    )
    return {
        **os.environ,
        "FONTCONFIG_FILE": str(configuration),
        "TZ": "UTC",
        "LANG": "C.UTF-8",
    }


def _package_folder(name: str) -> Path:
    """Return the folder of a package without importing it: matplotlib takes long to load."""
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None, f"{name} is not installed"
    return Path(spec.origin).parent
