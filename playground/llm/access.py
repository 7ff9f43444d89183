"""The access to a model: its key from the environment, or a server of one's own."""

from __future__ import annotations

from typing import Any

from playground.base.errors import InputFault
from playground.llm import own_servers, wiretap
from playground.llm.connecting import check_address
from playground.llm.library import litellm


def reaching(model: str, base_url: str = "") -> dict[str, Any]:
    """Arguments of `litellm.completion`; checked before anything is sent.

    Raises InputFault naming the missing variable, the model that LiteLLM does not know, or an
    address that is none.
    """
    wiretap.watch()
    if base_url:
        check_address(base_url)
        own_servers.keep_credentials_from(base_url)
        return {"base_url": base_url, "api_key": own_servers.NO_KEY}
    library = litellm()
    try:
        known = library.validate_environment(model=model)
        library.get_llm_provider(model)
    except Exception as error:
        problem = f"LiteLLM does not know this model ({str(error).splitlines()[0][:160]})"
        raise InputFault(problem, where=model, expected="provider/model") from error
    missing = known.get("missing_keys") or []
    if missing and not known.get("keys_in_environment"):
        raise InputFault(
            "no key for this provider", where=model, expected=f"${' and $'.join(missing)} to be set"
        )
    return {}
