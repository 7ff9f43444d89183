"""Kinds of secrets that are known by what stands before them, as data: a name, a flag, a scheme.

The `context` ends where the value begins, and `rest` is the value alone. What is only said of
secrets must stay: a value has a digit and a letter, is no reference to another one, and of names
that say little (`token`, `key`) only what looks random is one. The forms are those of gitleaks'
`generic-api-key`, `curl-auth-user` and `kubernetes-secret-yaml`, and of detect-secrets' keywords.

The contexts are compiled by `re`, where a possessive group is written as an atomic one: before
Python 3.11.5 it passed nothing where it should have passed all (CPython issue 106052).
"""

from __future__ import annotations

from typing import Final

from playground.recordings.secret_kinds import SecretKind
from playground.recordings.secret_names import CLIENTS, HEADER_WORDS, HEADERS, NAME, TOKEN, WORDS
from playground.recordings.secret_values import (
    CALL_ALONE,
    CALLED,
    DIGIT_AND_LETTER,
    ELSEWHERE,
    ESCAPE,
    GAP,
    IDENTIFIER,
    IN_QUOTES,
    INNER,
    MARK,
    NO_FILE,
    NUMBER,
    PLAIN,
    QUOTE,
    RANDOM,
    SENTENCE,
    TECHNICAL,
    TO_LINE_END,
    VALUE,
    of_both,
)

_SPACE: Final = r"(?>(?:\s|\\{1,15}[nrt]){1,20})"
_OPENS: Final = rf"(?:{QUOTE}|`|<\|{QUOTE}\|>|<escape>)"  # two Gemmas quote by tokens
_MARKS: Final = r"[*_`]{0,3}"  # Markdown's


# contexts

_VALUE_KEY: Final = rf"{QUOTE}(?i:value|string_?value){QUOTE}\s{{0,4}}:\s{{0,4}}{QUOTE}"
_DEFAULT_KEY: Final = (  # a parameter's, and of a schema behind its type
    rf"(?:{QUOTE}type{QUOTE}\s{{0,4}}:\s{{0,4}}{QUOTE}\w{{1,10}}{QUOTE}{GAP},{GAP})?"
    rf"{QUOTE}default{QUOTE}\s{{0,4}}:\s{{0,4}}{QUOTE}"
)
_WRAPS: Final = (  # OpenTelemetry's: "value": {"arrayValue": {"values": [{
    rf"(?:{QUOTE}(?i:value|array_?value|values){QUOTE}\s{{0,4}}:\s{{0,4}}(?:[\[{{]{GAP}){{1,2}}){{0,3}}"
)
_WIDE: Final = r"[\uff1a\uff1d]|\\{1,15}uff1[ad]"  # the signs of East Asian texts, in JSON escaped
_SIGN: Final = rf"{QUOTE}?{_MARKS}\s{{0,4}}(?:=>|:=|={{1,3}}|:|{_WIDE})\*{{0,2}}\s{{0,4}}\*{{0,2}}"
_SIGNS: Final = ("=", ":", "\uff1a", "\uff1d", r"\uff1")
_BLOCK: Final = rf"(?:[|>][-+0-9]{{0,2}}{_SPACE})?"  # YAML's


def _set(opens: str) -> str:
    """What stands between a name and its value: a list, an object, or the quotation mark alone; and
    behind the name as a value of its own, as in `{"name": "api_key", "value": …}`."""
    return (
        rf"(?:{_SIGN}(?:(?:\[{GAP}){{1,3}}{QUOTE}|\{{{GAP}(?:{_VALUE_KEY}|{_DEFAULT_KEY})"
        rf"|{_BLOCK}{opens})|{QUOTE}{GAP},{GAP}(?:{_WRAPS}{_VALUE_KEY}|{_DEFAULT_KEY}))"
    )


_SET: Final = _set(f"{_OPENS}?")


def _tagged(name: str) -> str:
    """A name as an element's, a parameter's of some dialect, an attribute's; or before two tags."""
    rest = r"(?:\s[^<>]{0,60})?"
    return (
        rf"(?:<(?:[\w-]{{1,20}}:)?[\w.-]{{0,30}}{name}{rest}>"
        rf"|(?:<[\w|-]{{1,20}}=|\b(?:name|key)={QUOTE})[\w.-]{{0,30}}{name}"
        rf"(?:{QUOTE}(?:\s{{1,4}}value={QUOTE}|{rest}(?:>|<[^<>\s]{{1,30}}>))|>)"
        rf"|{name}(?:{GAP}<[^<>\s]{{1,30}}>){{1,2}}){GAP}(?:<!\[CDATA\[)?"
    )


_TYPE: Final = r"[A-Za-z_][\w.]{0,30}(?:\[[\w., |]{0,30}\]{1,2})?(?:\s?\|\s?\w{1,10})?\??"
_TEXT: Final = rf"(?:[bBrRuU]{{1,2}})?(?:{QUOTE}){{1,3}}"  # a program's: b"…", three marks
_IN_CODE: Final = (  # settings["api_key"] = "…", api_key: str = "…", API_KEY || "…"
    rf"(?:(?i:{NAME})(?:{QUOTE}?\]\s{{0,4}}:?=\s{{0,4}}|\??\s?:\s?{_TYPE}\s{{0,4}}=\s{{0,4}}"
    rf"|\s{{0,4}}(?:\|\||\?\?)\s{{0,4}}|\s{{0,4}}[:=]\s{{0,4}}(?=[bBrRuUS\\\"']))"
    rf"|(?:getenv|environ\.get)\({QUOTE}\w{{0,24}}(?i:{NAME}){QUOTE},{GAP})"
    rf"(?:Secret(?:Str|Bytes)?\()?{_TEXT}"
)
_LISTED: Final = (
    rf"(?i:{NAME}s?){QUOTE}?\s{{0,4}}"
    rf"(?:(?::\s?{_TYPE}\s?)?[:=]\s{{0,4}}(?:\[{GAP}){{1,3}}|:{GAP}-\s{{1,4}})"
)
_BESIDE: Final = (
    rf"\b(?i:name|key):\s{{1,4}}{QUOTE}?[\w.-]{{0,30}}(?i:{NAME}){QUOTE}?{_SPACE}"
    r"(?i:value):\s{1,4}"
)
_CALLED_SO: Final = (
    rf"{QUOTE}{GAP},{GAP}{QUOTE}(?i:name|key){QUOTE}{GAP}:{GAP}{QUOTE}"
    rf"[\w.-]{{0,30}}(?i:{NAME}){QUOTE}"
)

WORDED: Final = (
    SecretKind(
        "bearer",
        (),
        r"(?=[A-Za-z~+/-]{0,64}[0-9._]\w)[A-Za-z0-9._~+/-]{12,}+={0,2}",
        context=r"(?i:\bbearer)(?:\s|%20){1,4}",
        words=("bearer",),
        on="A-Za-z0-9._~+/=-",
    ),
    SecretKind(
        "basic-auth",
        (),
        r"(?=[A-Za-z+/]{0,40}[0-9=])[A-Za-z0-9+/]{8,}+={0,2}",
        context=r"(?i:\bbasic)\s{1,4}",
        words=("basic",),
        on="A-Za-z0-9+/=",
    ),
    SecretKind(
        "url-password",
        (),
        rf"[^\s/@:\"'<>\\]{{0,100}}:(?:[^\s/@\"'<>\\]|\\{{0,15}}[\"'](?={INNER})"
        r"|@(?=[^\s/@\"'<>\\,;]{1,60}@)){1,200}(?=@)",
        context=r"://",
        words=("://",),
        after="",
    ),
    SecretKind(
        "url-token",
        (),
        r"(?=[^\s\d/@]{0,100}\d)[^\s/@:\"'<>\\?#]{8,200}(?=@)",
        context=r"://",
        words=("://",),
        after="",
    ),
    SecretKind(
        "query",
        (),
        rf"{ELSEWHERE}(?=[A-Za-z._~+/-]{{0,80}}[0-9%])[A-Za-z0-9._~%+/=-]{{12,}}+",
        context=r"[?&](?i:key|sig|token|auth|code|x-(?:amz|goog)-(?:signature|security-token)|"
        rf"{NAME})=",
        words=("key", "sig", "token", "auth", "code=", "secret", "pass", "pw"),
        signs=("?", "&"),
        on="A-Za-z0-9._~%+/=-",
        after="",
    ),
    SecretKind(  # a variable of the environment, before all others: only blanks end its value
        "named",
        (),
        rf"(?=[{VALUE}]){ELSEWHERE}{of_both(TO_LINE_END)}{TO_LINE_END}{{8,}}+",
        context=r"(?<![A-Za-z0-9])(?:PASS(?:WORD|WD|PHRASE)?|PWD?|SECRET|(?:API|ACCESS"
        r"|SECRET|PRIVATE|AUTH|ACCOUNT|MASTER)_?KEY|(?:ACCESS|AUTH|API|BOT)_?TOKEN)"
        rf"(?:_[A-Z0-9]{{1,10}})?=(?!{_OPENS})",
        words=WORDS,
        signs=("=",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "named",
        (),
        rf"{ELSEWHERE}{CALL_ALONE}{of_both(IN_QUOTES)}{IN_QUOTES}{{8,}}+",
        context=rf"(?i:{NAME}){_set(_OPENS)}",
        words=WORDS,
        signs=_SIGNS,
        on=VALUE,
        after="",
    ),
    SecretKind(
        "named",
        (),
        rf"(?=[{VALUE}]){ELSEWHERE}{IDENTIFIER}{DIGIT_AND_LETTER}{CALLED}{NUMBER}{PLAIN}{{8,}}+",
        context=rf"(?:(?i:{NAME}){_SIGN}{_BLOCK}|BEGIN_ARG: (?i:{NAME}){_SPACE})(?!{_OPENS})",
        words=WORDS,
        signs=_SIGNS,
        on=VALUE,
        after="",
    ),
    SecretKind(  # in a program, a list, beside its name in YAML
        "named",
        (),
        rf"{ELSEWHERE}{CALL_ALONE}{of_both(IN_QUOTES)}{IN_QUOTES}{{8,}}+",
        context=rf"(?:{_IN_CODE}|(?:{_LISTED}|{_BESIDE}){QUOTE})",
        words=WORDS,
        signs=("=", ":", "|", "?", "getenv(", "environ.get("),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "named",
        (),
        rf"(?=[{VALUE}]){ELSEWHERE}{IDENTIFIER}{DIGIT_AND_LETTER}{CALLED}{NUMBER}{PLAIN}{{8,}}+",
        context=rf"(?:{_LISTED}|{_BESIDE})(?!{_OPENS})",
        words=WORDS,
        signs=(":",),
        on=VALUE,
        after="",
    ),
    SecretKind(  # before the name that tells it
        "named",
        (),
        rf"{ELSEWHERE}{of_both(IN_QUOTES)}{IN_QUOTES}{{8,100}}+(?={_CALLED_SO})",
        context=_VALUE_KEY,
        words=("value",),
        signs=(":",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "named",
        (),
        r"(?=[^\s<0-9]{0,199}[0-9])(?=[^\s<A-Za-z]{0,199}[A-Za-z])"
        rf"(?:[^\s<\\\"'`]|{MARK}|{ESCAPE}){{8,}}+(?={GAP}(?:\]\]>)?(?:<|\Z|{QUOTE}))",
        context=_tagged(f"(?i:{NAME})"),
        words=WORDS,
        signs=("<",),
        on=VALUE,
        after="",
    ),
    SecretKind(  # in a sentence
        "named",
        (),
        rf"{TECHNICAL}{ELSEWHERE}{CALLED}{of_both(f'(?:{SENTENCE})')}"
        # of both cases, or with a special character, or where the sentence ends
        rf"(?:(?=\w{{0,80}}[a-z])(?=\w{{0,80}}[A-Z])|(?=\w{{1,80}}[!#$%^&*@~])"
        rf"|(?=(?:{SENTENCE}){{8,99}}+(?:[.,!]\s|[.,!]?(?:[\n\"'`*)<]|\\+[nrt\"']|\Z))))(?:{SENTENCE}){{8,}}+",
        context=rf"(?i:\b{NAME}(?:\s(?:for|of|to)\s[^\n.:,]{{1,40}}?)?\s(?:is|was|ist|equals|set\sto)"
        rf"(?:\s(?:now|set\sto))?:?\s{{1,3}}){_MARKS}{_OPENS}?",
        words=WORDS,
        signs=(" is", " was", " equals", " set to"),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "flag",
        (),
        rf"(?![$-]){NO_FILE}{ELSEWHERE}{DIGIT_AND_LETTER}{CALLED}{PLAIN}{{8,}}+",
        # of a command line, or of a list of its words
        context=rf"(?<![\w-])--?(?i:(?:[a-z0-9]{{1,20}}-){{0,4}}(?:{NAME}|token|auth))"
        rf"(?:(?:=|\s{{1,4}}){_OPENS}?|{QUOTE}{GAP},{GAP}{QUOTE})",
        words=(*WORDS, "auth"),
        signs=("-",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "flag",
        (),
        rf"(?![$-]){NO_FILE}{DIGIT_AND_LETTER}{CALLED}{PLAIN}{{6,}}+",
        context=rf"(?i:\b(?:(?:{'|'.join(CLIENTS)})\w{{0,8}}|(?:docker|podman|helm|az|oc)\slogin))\b"
        rf"[^\n|;&\\]{{0,100}}?\s-[pPaw]\s{{0,3}}{_OPENS}?",
        words=(*CLIENTS, "login"),
        signs=(" -",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "flag",
        (),
        rf"(?!\$){DIGIT_AND_LETTER}{PLAIN}{{6,}}+",
        context=rf"\bcurl\b[^\n]{{0,120}}?\s(?:-u|--user)(?:=|\s{{0,3}}){_OPENS}?[^\s:\"'\\]{{1,60}}:",
        words=("curl",),
        signs=("-u",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "netrc",
        (),
        r"[^\s\"'\\]{4,}+",
        context=rf"(?i:\bmachine){_SPACE}(?:localhost|[\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,6}}){_SPACE}"
        rf"(?i:login){_SPACE}[^\s\"'\\]{{1,60}}{_SPACE}(?i:password){_SPACE}",
        words=("machine",),
        on=r"^\s\"'\\",
        after="",
    ),
    SecretKind(
        "token",
        (),
        RANDOM,
        context=rf"(?:{TOKEN}{_SET}|{_tagged('(?i:token)')})",
        words=("token", "auth", "_key", "_pat", "credential"),
        signs=("=", ":", ">"),
        on="A-Za-z0-9_~+/=.-",
        after="",
    ),
    SecretKind(
        "cookie",  # all of it, where one of its values looks random
        (),
        r"(?=[^\n\r\"'\\]{0,400}?=(?=[A-Za-z._~+/%:-]{0,60}[0-9])[A-Za-z0-9._~+/%:-]{16})"
        r"[^\n\r\"'\\]{8,}+",
        context=rf"(?<![A-Za-z])(?i:(?:set-)?cookie){_SET}",
        words=("cookie",),
        signs=_SIGNS,
        on=r"^\n\r\"'\\",
        after="",
    ),
    SecretKind(
        "header",
        (),
        rf"(?=[^\s\"'\\0-9]{{0,199}}[0-9]){NUMBER}{ELSEWHERE}[{VALUE}]{{8,}}+",
        context=rf"{HEADERS}{_SET}(?i:(?:token|bot|api-?key|key)\s{{1,4}})?",
        words=HEADER_WORDS,
        signs=_SIGNS,
        on=VALUE,
        after="",
    ),
    SecretKind(  # a pair of a list, or one after the other in it; names of headers stand there too
        "header",
        (),
        rf"(?!(?i:x-)|[A-Z][a-z]{{1,15}}-){RANDOM}",
        context=rf"{HEADERS}{QUOTE}{GAP},{GAP}{QUOTE}",
        words=HEADER_WORDS,
        signs=(",",),
        on=VALUE,
        after="",
    ),
    SecretKind(
        "mailchimp",
        (),
        r"[0-9a-f]{32}-us\d{1,2}",
        context=r"(?i:mailchimp)[^\n\"]{0,30}?[\"'=: ]{1,4}",
        words=("mailchimp",),
    ),
    SecretKind(
        "okta", (), r"00[\w=-]{40}", context=rf"(?i:okta)[\w.-]{{0,20}}{_SET}", words=("okta",)
    ),
    # what tells them stands in their middle
    SecretKind(
        "azure-client-secret",
        (),
        r"[\w~.]{3}\dQ~[\w~.-]{31,34}",
        context=r"(?<![\w~.-])(?=[\w~.]{3}\dQ~)",
        words=("q~",),
        after=r"(?![A-Za-z0-9~])",
    ),
    SecretKind(
        "telegram",
        (),
        r"\d{8,10}:AA[\w-]{33}",
        context=r"(?<![\w:])(?=\d{8,10}:A)",
        words=(":a",),
        after=r"(?![A-Za-z0-9])",
    ),
)
