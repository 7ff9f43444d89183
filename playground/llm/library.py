"""LiteLLM, loaded where it is first needed and kept from asking the network by itself."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from functools import cache
from typing import Any, Final

_MODULES: Final = 1_900  # that its packages have when it is loaded, in 2026-11


@cache
def litellm() -> Any:
    """The module; loading it takes seconds."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network
    import litellm as module

    # of its own types, built at first use
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # it raises what it logs
    module.disable_aiohttp_transport = True  # all goes through httpx, where it is looked at
    module.disable_hf_tokenizer_download = True
    module.suppress_debug_info = True
    module.drop_params = True
    return module


def loaded() -> float:
    """The share of the module that is loaded, 0 to 1, by the number of its modules so far."""
    there = sum(name.startswith(("litellm.", "openai.")) for name in list(sys.modules))
    return min(there / _MODULES, 1.0)
