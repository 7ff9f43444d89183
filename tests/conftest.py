from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

settings.register_profile(
    "suite", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
examples = int(os.environ.get("LAW_EXAMPLES", "100"))
settings.register_profile(
    "search", settings.get_profile("suite"), derandomize=False, max_examples=examples
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
