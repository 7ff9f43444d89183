"""LiteLLM, loaded where it is first needed and kept from asking the network by itself."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from functools import cache
from typing import Any, Final, Protocol, cast

_MODULES: Final = 2_270  # that its packages have when 1.110 is loaded


class LiteLLM(Protocol):
    """LiteLLM as far as it is used here: `tests/test_litellm_names.py` looks each name up."""

    completion: Any
    acompletion: Any
    completion_cost: Any
    stream_chunk_builder: Any
    get_llm_provider: Any
    get_supported_openai_params: Any
    validate_environment: Any
    supports_function_calling: Any
    supports_reasoning: Any
    supports_response_schema: Any
    BadRequestError: type[Exception]
    _should_retry: Any
    _calculate_retry_after: Any
    disable_aiohttp_transport: bool
    disable_hf_tokenizer_download: bool | None
    suppress_debug_info: bool
    drop_params: bool


@cache
def litellm() -> LiteLLM:
    """Return the module; loading it takes seconds."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network
    import litellm as imported

    module = cast(LiteLLM, imported)

    # of its own types, built at first use
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # it raises what it logs
    module.disable_aiohttp_transport = True  # all goes through httpx, where it is looked at
    module.disable_hf_tokenizer_download = True
    module.suppress_debug_info = True
    module.drop_params = True
    return module


def loaded() -> float:
    """Return the share of the module that is loaded, 0 to 1, by the number of its modules so
    far.
    """
    there = sum(name.startswith(("litellm.", "openai.")) for name in list(sys.modules))
    return min(there / _MODULES, 1.0)
