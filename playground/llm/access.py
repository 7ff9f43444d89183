"""Access to a model: by a key from the environment, or by the address of a user's server."""

from __future__ import annotations

from typing import Any

from playground.base.errors import InputFault
from playground.llm import own_servers, wiretap
from playground.llm.connecting import check_address
from playground.llm.library import litellm


def access_arguments(model: str, base_url: str = "") -> dict[str, Any]:
    """Return the arguments of `litellm.completion` that give access to a model, checked beforehand.

    Raises InputFault if a variable with a key is missing, LiteLLM does not know the model, or the
    address is wrong.
    """
    if base_url:
        check_address(base_url)
        own_servers.withhold_credentials_from(base_url)
    elif missing := missing_keys(model):
        raise InputFault(
            "no key for this provider", where=model, expected=f"${' and $'.join(missing)} to be set"
        )
    wiretap.watch()
    return {"base_url": base_url, "api_key": own_servers.NO_KEY} if base_url else {}


def missing_keys(model: str) -> list[str]:
    """Return the environment variables in which a key for the model is missing; [] if none is.
    Raises InputFault if LiteLLM does not know the model."""
    library = litellm()
    try:
        known = library.validate_environment(model=model)
        library.get_llm_provider(model)
    except Exception as error:
        problem = f"LiteLLM does not know this model ({str(error).splitlines()[0][:160]})"
        raise InputFault(problem, where=model, expected="provider/model") from error
    return [] if known.get("keys_in_environment") else list(known.get("missing_keys") or [])
