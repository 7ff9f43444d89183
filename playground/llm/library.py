"""Load LiteLLM when it is first needed, configured so that it uses no network by itself."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from functools import cache
from threading import Timer
from typing import Any, Final, Protocol, cast

from playground.base.extras import missing_package

_SLOW: Final = 2.0  # seconds after which a person is told what takes so long
_MODULES: Final = 2_270  # the number of modules when LiteLLM 1.110 is loaded


class LiteLLM(Protocol):
    """The names of LiteLLM that are used here; `tests/test_litellm_names.py` checks each name."""

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
    """Return the module, which takes seconds the first time. Raises MissingPackageError."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise it fetches prices
    notice = Timer(_SLOW, _tell_loading)
    notice.daemon = True
    notice.start()
    try:
        import litellm as imported
    except ModuleNotFoundError as error:
        raise missing_package(error) or error from None
    finally:
        notice.cancel()

    module = cast(LiteLLM, imported)

    # hide a warning about LiteLLM's own types
    warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier", category=UserWarning)
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # logged errors are also raised
    module.disable_aiohttp_transport = True  # `wiretap` sees only httpx
    module.disable_hf_tokenizer_download = True
    module.suppress_debug_info = True
    module.drop_params = True
    return module


def _tell_loading() -> None:
    """Tell a person at a terminal or in a notebook what is waited for; logs and pipes stay as they
    are."""
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        sys.stderr.write("playground: loading LiteLLM, once in this process …\n")
        sys.stderr.flush()


def loaded() -> float:
    """Return the loaded share of LiteLLM's modules, from 0 to 1."""
    count = sum(name.startswith(("litellm.", "openai.")) for name in list(sys.modules))
    return min(count / _MODULES, 1.0)
