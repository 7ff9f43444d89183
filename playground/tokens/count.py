"""Count the tokens of a request: exactly, by its tokenizer alone, or as an estimate.

*exact*: tokenizer and framing are known. *tokenizer*: the tokens of the texts are right, but the
provider adds unknown text, which `notes` names. *estimate*: the model's tokenizer is not published
or not installed. The usage that was reported for this request is never used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Any, Final, Literal

from playground.base.display import Shown
from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import Finding
from playground.dialects.raw_prompts import ChatTemplate
from playground.tokens import estimate
from playground.tokens.checks import checks, marks_in_tokens
from playground.tokens.models import APIS, ModelRule, api_of, rule_for
from playground.tokens.pieces import Framed, Piece, more_of_digits
from playground.tokens.registry import PACKAGED, STAND_IN, Packaged, packaged
from playground.tokens.templates import frame_by_template
from playground.tokens.tokenizer import Tokenizer, count, shares

Kind = Literal["exact", "tokenizer", "estimate"]
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_TOKENS_PER_MESSAGE: Final = 4  # framing, for most models
_NOT_OWN: Final = "the model's own tokenizer is not used"
_NO_TOKENIZER: Final = "no tokenizer is installed (pip install 'dialect-playground[llm]')"


@dataclass(frozen=True, repr=False)
class TokenCount(Shown):
    """The tokens of a request's input; `pg.count_tokens` explains `kind`.

    `range` is the lowest and the highest possible count. The highest is None if the provider adds
    something that the request does not show (a web search, a conversation on the server).
    `by_origin` divides `tokens`, framing included; `by_tool` and `by_message` (by index) hold the
    tokens of each tool and message. `source` names tokenizer and framing, and `notes` say why the
    count is not exact.
    """

    tokens: int
    kind: Kind
    range: tuple[int, int | None]
    model: str = ""
    api: str = ""
    by_origin: dict[str, int] = field(default_factory=dict)
    by_tool: dict[str, int] = field(default_factory=dict)
    by_message: dict[int, int] = field(default_factory=dict)
    source: str = ""
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __repr__(self) -> str:
        low, high = self.range
        bounds = f"{low:,} to {'?' if high is None else f'{high:,}'}"
        return f"TokenCount({self.tokens:,} tokens, {self.kind}, {bounds}, {self.model!r})"


def count_request(
    body: Mapping[str, Any],
    model: str = "",
    api: str = "",
    tokenizer: Tokenizer | None = None,
    template: ChatTemplate | None = None,
) -> TokenCount:
    """Count the input tokens of a request body of any API.

    `model` and `api` (a name as in recordings, such as openai-chat) default to those of the body. A
    `tokenizer` replaces the model's own, a `template` the model's framing.

    Raises InputFault if the body is of no known API or nested too deeply, or if the template
    refuses it. Raises UnknownNameError for an unknown `api`.
    """
    if api and api not in APIS:
        raise UnknownNameError("API", api, list(APIS))
    api = api or api_of(body)
    model = model or str(body.get("model") or "")
    if isinstance(body.get("input"), Mapping):  # DashScope has its fields in two inner objects
        parameters = body.get("parameters")
        body = {**body["input"], **(parameters if isinstance(parameters, Mapping) else {})}
    if not api:
        raise InputFault(
            "this is no request of a known API",
            expected="an object with messages, input, contents or prompt",
        )
    try:
        return _count_as(body, model, api, tokenizer, template)
    except RecursionError as error:
        problem = "the request is nested too deeply"
        raise InputFault(problem, expected="fewer than 200 levels") from error


def _count_as(
    body: Mapping[str, Any],
    model: str,
    api: str,
    tokenizer: Tokenizer | None,
    template: ChatTemplate | None,
) -> TokenCount:
    """Count a body of a known API with the best tokenizer that is installed."""
    rule = rule_for(model)
    if tokenizer is None and rule and PACKAGED[rule.tokenizer].path() is not None:
        tokenizer = packaged(rule.tokenizer)
    if tokenizer is None:
        if rule is None or not estimate.any_text_counter()[1]:
            return _estimate(body, model, api)
        framed = _frame(body, api, rule, template)
        return _count_nearly(body, framed, PACKAGED[rule.tokenizer], model, api)
    framed = _frame(body, api, rule, template)
    result = _count_exactly(framed, tokenizer, model, api)
    return replace(result, findings=[*result.findings, *marks_in_tokens(body, tokenizer)])


def _frame(
    body: Mapping[str, Any], api: str, rule: ModelRule | None, template: ChatTemplate | None
) -> Framed:
    framing = rule.framings.get(api) if rule else None
    if template is not None:
        return frame_by_template(body, template)
    return framing(body) if framing is not None else _frame_texts(body, api)


def _frame_texts(body: Mapping[str, Any], api: str) -> Framed:
    """Frame the texts of a request; for each message, add the framing that most models have."""
    pieces = estimate.texts_of(body)
    framed = Framed([[piece._replace(fixed=_TOKENS_PER_MESSAGE * piece.fixed)] for piece in pieces])
    framed.source = f"texts, and {_TOKENS_PER_MESSAGE} tokens a message"
    framed.add_reason(f"the framing of a request to this model by {api} is not known")
    return framed


def _count_exactly(framed: Framed, tokenizer: Tokenizer, model: str, api: str) -> TokenCount:
    rows = [_sizes(tokenizer, row, framed.control) for row in framed.rows]
    sums = _Sums()
    for row, sizes in zip(framed.rows, rows, strict=True):
        sums.add(row, sizes)
    total = sum(sums.origins.values())
    most_unknown = framed.most_unknown
    return TokenCount(
        tokens=total,
        kind="tokenizer" if framed.unknown else "exact",
        range=(_least_tokens(framed, rows) if framed.unknown else total,
               None if most_unknown is None else total + most_unknown),
        model=model,
        api=api,
        source=f"{tokenizer.name}: {tokenizer.source}; {framed.source}",
        notes=list(framed.unknown),
        findings=checks(framed, tokenizer),
        **sums.fields(),
    )  # fmt: skip


def _least_tokens(framed: Framed, rows: Sequence[Sequence[int]]) -> int:
    """Count the tokens of the texts that are certainly billed; 0 if the server may cut texts."""
    pieces = [piece for row in framed.rows for piece in row]
    sizes = [size for row in rows for size in row]
    sure = sum(piece.sure * size for piece, size in zip(pieces, sizes, strict=True))
    return 0 if framed.forgets else int(sure)


def _count_nearly(
    body: Mapping[str, Any], framed: Framed, packaged_rule: Packaged, model: str, api: str
) -> TokenCount:
    """Estimate a framed request with a similar tokenizer, if the model's own is not installed."""
    estimated = count_with_similar(framed, packaged_rule)
    sums = _Sums()
    sizes = iter(estimated.sizes)
    for row in framed.rows:
        sums.add(row, [next(sizes) for _ in row])
    total = sum(sums.origins.values())
    fixed = sum(piece.fixed for row in framed.rows for piece in row)
    least = 0 if framed.forgets else estimated.least + (0 if framed.unknown else fixed)
    most_unknown = framed.most_unknown
    similar = packaged(packaged_rule.like.to if packaged_rule.like else STAND_IN)
    return TokenCount(
        tokens=total,
        kind="estimate",
        range=(
            min(least, total),
            None if most_unknown is None else max(total, estimated.most + fixed) + most_unknown,
        ),
        model=model,
        api=api,
        source=f"tokens of {similar.name}, which is like the model's own; {framed.source}",
        notes=[f"the package {packaged_rule.package} is not installed", *framed.unknown, _NOT_OWN],
        findings=marks_in_tokens(body, similar),
        **sums.fields(),
    )


def _sizes(tokenizer: Tokenizer, row: Sequence[Piece], control: bool) -> list[int]:
    if len(row) == 1:
        return [count(tokenizer, row[0].text, control)]
    return shares(tokenizer, (piece.text for piece in row), control)


@dataclass
class _Sums:
    """Tokens by origin, tool and message."""

    origins: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    messages: Counter[int] = field(default_factory=Counter)

    def add(self, row: Sequence[Piece], sizes: Sequence[int]) -> None:
        for piece, size in zip(row, sizes, strict=True):
            self.origins[piece.origin] += size
            self.origins["framing"] += piece.fixed
            if piece.message is not None:
                self.messages[piece.message] += size + piece.fixed
            elif piece.tool:
                self.tools[piece.tool] += size + piece.fixed

    def fields(self) -> dict[str, Any]:
        origins = {origin: size for origin, size in self.origins.items() if size}
        return {
            "by_origin": origins,
            "by_tool": dict(self.tools),
            "by_message": dict(self.messages),
        }


def _estimate(body: Mapping[str, Any], model: str, api: str) -> TokenCount:
    pieces = estimate.texts_of(body)
    family = estimate.family_of(model)
    counter, has_tokenizer = estimate.any_text_counter()
    texts = [counter(piece.text) for piece in pieces]
    total = estimate.Sums()
    for piece, size in zip(pieces, texts, strict=True):
        total = total.plus(family, piece, size)
    tokens, least, most = estimate.bounds(family, total, body)
    sizes, rest = estimate.shares(family, pieces, texts, tokens)
    sums = _Sums()
    for piece, size in zip(pieces, sizes, strict=True):
        sums.add([piece._replace(fixed=0)], [size])
    sums.origins["framing"] += rest
    counted = f"tokens of {STAND_IN}" if has_tokenizer else "kinds of bytes"
    return TokenCount(
        tokens=tokens,
        kind="estimate",
        range=(least, most),
        model=model,
        api=api,
        source=f"{counted}, by ratios measured for {family.title}",
        notes=[*filter(None, [family.hidden]), _NOT_OWN if has_tokenizer else _NO_TOKENIZER],
        findings=marks_in_tokens(body, packaged(STAND_IN)) if has_tokenizer else [],
        **sums.fields(),
    )


# with a similar tokenizer


@dataclass(frozen=True, slots=True)
class Sized:
    """An estimate in tokens: the likely `sizes` of the texts, and the lowest and highest sum."""

    least: int
    sizes: list[int]
    most: int


def count_with_similar(framed: Framed, model: Packaged) -> Sized:
    """Estimate a framed request's texts with the tokenizer that is like `model`'s, which is not
    installed. Only the tokens of texts are estimated: the pieces have those of the framing."""
    controls_by_size = sorted(model.controls, key=len, reverse=True) if framed.control else []
    controls = re.compile("|".join(map(re.escape, controls_by_size))) if controls_by_size else None
    pieces = [piece for row in framed.rows for piece in row]
    sized = [_size(piece.text, model, controls) for piece in pieces]
    least = sum(piece.sure * size[0] for piece, size in zip(pieces, sized, strict=True))
    cuts = len(pieces) - len(framed.rows)  # a token may span two pieces of a row
    most = ceil(sum(size[2] for size in sized))
    return Sized(max(0, floor(least) - cuts), [round(size[1]) for size in sized], most)


def _size(text: str, model: Packaged, controls: re.Pattern[str] | None) -> Sequence[float]:
    """Return the lowest, the likely and the highest number of a text's tokens."""
    if model.like is None:
        raise ValueError(f"nothing is known to be like the tokenizer of {model.package}")
    tokenizer = packaged(model.like.to)
    parts = controls.split(text) if controls else [text]
    others = [run for part in parts for run in _BEYOND_ASCII.findall(part)]
    other_tokens = sum(count(tokenizer, run) for run in others)
    plain = max(0, sum(count(tokenizer, part) for part in parts) - other_tokens)
    controls_found = len(parts) - 1
    sizes = [
        ratio * plain + other_ratio * other_tokens + controls_found
        for ratio, other_ratio in zip(model.like.ratio, model.like.other_letters, strict=True)
    ]
    if model.like.digits:
        extra = more_of_digits(text)
        sizes[1:] = [sizes[1] + extra, sizes[2] + extra]
    return sizes
