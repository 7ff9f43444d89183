"""The JSON of a value as blocks, hashes and searches have it."""

from __future__ import annotations

import json
from typing import Final

# No check for circles: a value that came as JSON never holds itself.
json_of: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
