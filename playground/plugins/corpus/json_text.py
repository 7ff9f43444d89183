"""Write a value as JSON, in the one way that a corpus uses for blocks, hashes and searches."""

from __future__ import annotations

import json
from typing import Final

# without the check for circles, because a value that was read from JSON never contains itself
json_of: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
