"""Convert the costs of a session's requests to one unit, because they may be for several models."""

from __future__ import annotations

from functools import lru_cache

from playground.cache.answers.cells import CacheSimulation
from playground.cache.prices import price_of


def costs_at_one_price(simulation: CacheSimulation) -> list[int]:
    """Return each request's cost, in thousandths of the price of an input token of
    `simulation.model`.

    The cost of a request to another model is converted by both models' list prices. If one of the
    two prices is unknown, the cost is not converted.
    """
    costs = []
    for request, outcome in zip(simulation.row, simulation.requests, strict=True):
        its_price, price = _two_prices(request.wire.model, simulation.model)
        costs.append(outcome.cost * its_price // price)
    return costs


@lru_cache(maxsize=256)
def _two_prices(model: str, other: str) -> tuple[int, int]:
    """Return the price of an input token of both models; 1 and 1 if one of them is unknown."""
    price, other_price = (None, None) if model == other else (price_of(model), price_of(other))
    if not (price and other_price and other_price.uncached):
        return 1, 1
    return price.uncached, other_price.uncached


def models_note(simulation: CacheSimulation) -> list[str]:
    """Return a note that each request is priced for its own model; [] for a single model."""
    models = list(dict.fromkeys(sent.wire.model for sent in simulation.row))
    if len(models) < 2:
        return []
    note = f"each request is priced for its own model: {', '.join(models)}"
    unknown = [model for model in models if price_of(model) is None]
    assumed = f"; {', '.join(unknown)} as {simulation.model}, without a list price"
    return [note + assumed if unknown else note]
