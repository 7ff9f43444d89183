"""Start the app: streamlit in this process, with the configuration that lies beside the package."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from playground import paths


def launch(options: list[str]) -> None:
    """Run the app; `options` are streamlit's own and win over the configuration file."""
    from streamlit.web import cli

    settings = tomllib.loads(paths.streamlit_config().read_text(encoding="utf-8"))
    given = {option.split("=")[0] for option in options}
    flags = [f"--{key}={value}" for key, value in _flat(settings) if f"--{key}" not in given]
    cli.main(["run", str(paths.app_file()), *flags, *options], standalone_mode=False)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """`[server] address = …` as `server.address`: read so from any folder, as streamlit is not."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value).lower() if isinstance(value, bool) else str(value)
