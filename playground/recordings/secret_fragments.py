"""Fragments of secrets' patterns, which patterns name in angle brackets: `<quote>`.

Fragments between a name and its value are compiled by `re`. They use atomic groups, not
possessive quantifiers, which may fail to match before Python 3.11.5 (CPython issue 106052).
"""

from __future__ import annotations

import re
from typing import Final

# Words in names of secrets, and the words that `key` and `token` need before them.
TELLING: Final = ("key", "token", "secret", "pass", "pwd", "pw", "psk")
BEFORE_KEY: Final = (
    *("api", "access", "account", "secret", "private", "master", "signing", "encryption", "auth"),
    *("subscription", "app", "application", "service", "session", "consumer", "client", "license"),
    *("preshared", "pre-shared"),
)
BEFORE_TOKEN: Final = (
    *("access", "auth", "api", "refresh", "bearer", "id", "session", "bot", "deploy"),
)
# Endings of names, as of a second key (`API_KEY_2`) or of production (`API_KEY_PROD`).
NAME_END: Final = r"(?:[_-]?[0-9]{1,2}|_(?:prod|dev|test|live|old|new|main))"


def _digit_and_letter(unit: str) -> str:
    """Return a look-ahead that requires a digit and a letter among such units."""
    return "".join(f"(?=(?:(?!{each}){unit}){{0,199}}+{each})" for each in ("[0-9]", "[A-Za-z]"))


_PIECE: Final = re.compile("<([a-z][a-z ]*)>")
_PIECES: Final = {
    "name": (
        rf"(?:(?:{'|'.join(BEFORE_KEY)})[ _-]?key|(?:{'|'.join(BEFORE_TOKEN)})[ _-]?token|secret"
        rf"|passw(?:or)?d|passphrase|passcode|pwd|(?<![a-z])(?:pass|pw|psk)){NAME_END}?"
    ),
    # Classes of characters.
    "a": "[A-Za-z0-9]",
    "w": "[A-Za-z0-9_-]",
    "b": "[A-Za-z0-9+/]",
    "h": "[0-9a-f]",
    "x": "[0-9a-fA-F]",
    "u": "[A-Z0-9]",
    "l": "[a-z0-9]",
    "digit": "(?=[A-Za-z_-]{0,80}[0-9])",  # a run without a digit is a name with hyphens
    "mixed": "(?=[A-Za-z]{0,40}[0-9])(?=[a-z0-9]{0,40}[A-Z])(?=[A-Z0-9]{0,40}[a-z])",
    "no words": r"(?!(?:[a-z]{2,20}[0-9]{0,2}[_-]){1,12}[a-z]{2,20}[0-9]{0,2}(?!<w>))",
    "no more": "(?![A-Za-z0-9_+/-])",  # a longer run is not a key
    "no letter": "(?![A-Za-z0-9])",
    "break": r"(?:\s|\\+[nrt])",  # a line's end, escaped or not
    # Fragments of a private key, and what may come between its lines if it is quoted in a program,
    # a diff or a numbered listing.
    "key end": r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    "half end": r"(?:-{1,5}|-----EN?|-----END(?: [A-Z0-9 ]{0,60}-{0,4})?)\Z",
    "key block": r"(?:[A-Za-z0-9+/=\s]|\\+[nrt])",
    # the key's end, half of it where the text ends, or a character that no key has
    "block end": r"(?:<key end>|<half end>|(?![A-Za-z0-9+/=\s\\])|(?=\\+[^nrt\\])|\Z)",
    "joint": (
        r"(?:\\+(?:[nrt]|u[0-9a-fA-F]{4})|<br ?/?>|&#1[03];|%0[AaDd]|\d{1,6}(?=[^A-Za-z0-9+/=])"
        r"|[bBrRuUfF](?=\\{0,15}[\"'])|-(?!-)|[^A-Za-z0-9=-]){0,60}+"
    ),
    "line": "[A-Za-z0-9+/]{20,}+={0,2}+",
    "short": "[A-Za-z0-9+/]{1,76}+={0,2}+",
    "base line": "[A-Za-z0-9+/]{4,76}={0,2}",
    # Fragments of values.
    # In four levels of JSON within texts of JSON, a quotation mark has 15 backslashes before it.
    "quote": r"\\{0,15}[\"']",
    "gap": r"(?>(?:\s|\\{1,15}[nrt]){0,40})",  # JSON may be indented
    "inner": r"[\w!#$%^*@~]",  # what follows a quotation mark within a value
    "value": r"^\s\"'\\,;&<>(){}\[\]",
    # A comma within a value, but not the one before the next name: `Password=a,b;User=c`.
    "comma": r"(?:[,;&](?![\w.-]{1,40}\s{0,2}[=:])|[(){}\[\]])(?=<inner>)",
    "mark": r"(?:\\{0,15}[\"'`]|[<>])(?=<inner>)",
    "escape": r"\\{1,15}(?:u[0-9a-fA-F]{4}|[/A-Zac-mo-qsv-z0-9!#$%^*@&])",
    "plain": r"(?:[<value>]|<comma>)",
    "in quotes": r"(?:[^\s\"'`\\<>]|<mark>|<escape>)",
    "to line end": r"(?:[<value>]|<comma>|<mark>)",  # of a line in a `.env` file
    "both in quotes": _digit_and_letter("<in quotes>"),
    "both to line end": _digit_and_letter("<to line end>"),
    "both": r"(?=[<value>0-9]{0,199}[0-9])(?=[^A-Za-z\s\"'\\]{0,199}[A-Za-z])",
    "number": r"(?!-?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,3})?\s{0,40}[,}\]])",  # not a number in JSON
    "called": r"(?![\w.]{1,120}[(\[])",  # not a call or an item of a list, in code
    "call alone": r"(?![\w.]{1,120}\([^()\s]{0,80}\)<quote>)",
    # not the name or path of a value that is stored elsewhere
    "elsewhere": (
        r"(?!\$?\{{1,2}[^{}\n]{0,80}\}|\$\(|\$[A-Z_][A-Z0-9_]{0,80}(?![a-z])|%\(|<[^<>\n]{0,80}>"
        r"|%[A-Z_][A-Z0-9_]{0,80}%"
        r"|(?:process\.env|import\.meta|os\.environ|self|this|settings|config|args|options|secrets"
        r"|env|vars?)\.[A-Za-z_]|arn:aws|op://|(?:/[a-z][\w.-]{1,40}){2,12}/?(?![\w/+=-]))"
        r"(?!(?i:your)(?:[_-](?i:[a-z]{1,20})){1,6}(?:[_-]?[0-9]{1,3})?(?![\w!#$%^*@~-]))"
    ),
    # Not an identifier with `key`, `secret` or the like: `my-k8s-secret-1`, `useApiKey1`.
    "identifier": (
        r"(?!(?=[\w-]{0,60}(?i:key|token|secret|passw|cred))(?:(?:[A-Z]?[a-z]{2,15}|[a-z][0-9][a-z]"
        r"|[0-9]{1,2})(?:[_-]|(?=[A-Z0-9]))){2,6}(?:[A-Z]?[a-z]{2,15})?[0-9]{0,2}"
        r"(?![\w!#$%^*@~+/=-]))"
    ),
    "no file": r"(?!\.{0,2}/[\w.-]{1,60}/|[.~]{1,2}/|@|id=|\w{2,10}://)",
    "random": (
        r"(?:(?=[A-Za-z_~+/=.-]{0,80}[0-9])(?=[A-Z0-9_~+/=.-]{0,80}[a-z])"
        r"(?=[a-z0-9_~+/=.-]{0,80}[A-Z])<called>[A-Za-z0-9_~+/=.-]{20,}+|[0-9a-f]{32,}+)"
    ),
    "spoken": r"[\w!#$%^&*@~+=-]|[.,:/?](?=\w)",
    "both spoken": _digit_and_letter("(?:<spoken>)"),
    # Not an algorithm ("the password is base64url2"), nor a number with a word ("8-character").
    "technical": (
        r"(?!(?i:sha|md|base|utf|aes|rsa|bcrypt|pbkdf|argon|hmac|hs|es|rs|v|oauth|http|type"
        r"|len\w{0,4})[-_]?[0-9]|[0-9]{1,4}[-_]?[a-z]+\b)"
    ),
    # A value that only a blank separates from its name: no word with a number, no identifier.
    "strange": (
        r"<technical><elsewhere><called>"
        r"(?!(?:(?:[A-Z]?[a-z]{2,20}|[A-Z]{2,20}|[A-Z](?=[A-Z][a-z])"
        r"|(?<=[a-z])[0-9]{1,2}(?=[A-Z][a-z]{2}))[-_.]?){1,8}[0-9.]{0,5}"
        r"(?![\w!#$%^&*@~+=-]))"
        r"(?=[^\s\"'`]{0,80}[0-9])(?:(?=[^\sa-z\"'`]{0,80}[a-z])(?=[^\sA-Z\"'`]{0,80}[A-Z])"
        r"|(?=[A-Za-z0-9]{1,40}[!#$%^*~](?:[A-Za-z0-9]|(?![\w-])))(?=[^\s\"'`]{0,80}[A-Za-z])"
        r"|(?=[0-9a-f]{32,200}(?![\w-])))"
        r"(?![A-Za-z0-9]{0,60}(?:Key|Token|Secret|Error|Exception|Type|Config)(?![a-z0-9]))"
        r"(?:[\w!#$%^&*@~+-]|=(?!\w)|[.,:/?](?=[\w!#$%^&*@~+=-])){8,}+(?![(\[])"
    ),
    "in call": (
        r"<elsewhere><call alone><identifier>(?=[^\s\"'0-9]{0,199}[0-9])"
        r"(?=[^\s\"'A-Za-z]{0,199}[A-Za-z])<in quotes>{8,}+"
    ),
    # The texts between a name and its value.
    "space": r"(?>(?:\s|\\{1,15}[nrt]){1,20})",
    # two Gemma models quote with `<|"|>` or `<escape>`; `[e]`, because `<escape>` is a fragment
    "opens": r"(?:<quote>|`|<\|<quote>\|>|<[e]scape>)",
    "marks": r"[*_`]{0,3}",  # Markdown's
    "colon": r"<quote>\s{0,4}:\s{0,4}<quote>",  # between two texts of JSON
    "value key": r"<quote>(?i:value|string_?value)<colon>",
    # before the value: a schema's type, an attribute of Terraform's outputs
    "facts": (
        r"(?:<quote>(?:type|sensitive)<quote>\s{0,4}:\s{0,4}(?:<quote>\w{1,10}<quote>|true|false)"
        r"<gap>,<gap>){0,2}"
    ),
    "default key": r"<facts><quote>(?i:value|string_?value|default)<colon>",
    # OpenTelemetry's: "value": {"arrayValue": {"values": [{
    "wraps": (
        r"(?:<quote>(?i:value|array_?value|values)<quote>\s{0,4}:\s{0,4}(?:[\[{]<gap>){1,2}){0,3}"
    ),
    "wide": r"[\uff1a\uff1d]|\\{1,15}uff1[ad]",  # a wide colon or equals sign, plain or escaped
    "blanks": r"(?:[ \t]{5,60}|(?:\\{1,15}t){2,60}|\s{0,4})",  # many, if values are in columns
    "sign": (r"<quote>?<marks><blanks>(?:=>|:=|={1,3}|:|<wide>)\*{0,2}<blanks>\*{0,2}"),
    "block": r"(?:[|>][-+0-9]{0,2}<space>)?",  # YAML's
    # Between a name and its value: a sign and the start of a list, an object or a text; or, if the
    # name is itself a JSON value (`{"name": "api_key", "value": …}`), all up to the value's quote.
    "set quoted": (
        r"(?:<sign>(?:(?:\[<gap>){1,3}<quote>|\{<gap><default key>|<block><opens>)"
        r"|<quote><gap>,<gap>(?:<wraps><value key>|<default key>))"
    ),
    "set": (
        r"(?:<sign>(?:(?:\[<gap>){1,3}<quote>|\{<gap><default key>|<block><opens>?)"
        r"|<quote><gap>,<gap>(?:<wraps><value key>|<default key>))"
    ),
    "rest": r"(?:\s[^<>]{0,60})?",
    "cdata": r"<gap>(?:<!\[CDATA\[)?",
    "tag": r"(?<=<(?:[\w-]{1,20}:)?[\w.-]{0,30})",  # before the name of an element
    # before the name in a dialect's parameter, or in an attribute
    "attribute": r"(?<=(?:<[\w|-]{1,20}=|\b(?:name|key)=<quote>)[\w.-]{0,30})",
    "in tag": r"<rest>><cdata>",
    "in attribute": (r"(?:<quote>(?:\s{1,4}value=<quote>|<rest>(?:>|<[^<>\s]{1,30}>))|>)<cdata>"),
    "two tags": r"(?:<gap><[^<>\s]{1,30}>){1,2}<cdata>",
    "type": (
        r"(?:&(?:'\w{1,10}\s)?)?[A-Za-z_][\w.]{0,30}(?:\[[\w., |]{0,30}\]{1,2})?"
        r"(?:\s?\|\s?\w{1,10})?\??"
    ),
    "text": r"(?:[bBrRuU]{1,2})?(?:<quote>){1,3}",  # the start of a string in code
    "typed text": r"(?:Secret(?:Str|Bytes)?\()?<text>",
    # settings["api_key"] = "…", api_key: str = "…", API_KEY || "…"
    "in code": (
        r"(?:<quote>?\]\s{0,4}(?:\|\||:)?=\s{0,4}|\??\s?:\s?<type>\s{0,4}=\s{0,4}"
        r"|\s{0,4}(?:\|\||\?\?)\s{0,4}|\s{0,4}[:=]\s{0,4}(?=[bBrRuUS\\\"']))<typed text>"
    ),
    "listed": (
        r"s?<quote>?\s{0,4}(?:(?::\s?<type>\s?)?[:=]\s{0,4}(?:\[<gap>){1,3}|:<gap>-\s{1,4})"
    ),
    "beside": r"(?<=\b(?i:name|key):\s{1,4}<quote>?[\w.-]{0,30})",
    "below": r"<quote>?<space>(?i:value):\s{1,4}",
    "is": r"\s(?:is|was|ist|equals|set\sto)(?:\s(?:now|set\sto))?:?\s{1,3}",
    "name follows": (
        r"<quote><gap>,<gap><quote>(?i:name|key)<quote><gap>:<gap><quote>"
        r"[\w.-]{0,30}(?i:<name>)<quote>"
    ),
    "flag": r"(?<=(?<![\w-])--?(?i:(?:[a-z0-9]{1,20}-){0,4}))",
    "flag lead": r"(?:(?:=|\s{1,4})<opens>?|<quote><gap>,<gap><quote>)",
    "flag value": r"(?![$-])<no file><elsewhere><both><called><plain>{8,}+",
    "shell value": r"(?![$%-])<no file><both><called><plain>{6,}+",
    "joined": r"(?=[<value>])<elsewhere><identifier><both><called><number><plain>{8,}+",
    "quoted": r"<elsewhere><call alone><both in quotes><in quotes>{8,}+",
    "tagged": (
        r"(?=[^\s<0-9]{0,199}[0-9])(?=[^\s<A-Za-z]{0,199}[A-Za-z])"
        r"(?:[^\s<\\\"'`]|<mark>|<escape>){8,}+(?=<gap>(?:\]\]>)?(?:<|\Z|<quote>))"
    ),
    "query value": r"<elsewhere>(?=[A-Za-z._~+/-]{0,80}[0-9%])[A-Za-z0-9._~%+/=-]{12,}+",
    "run": r"[^\s\"'\\]",
    "login": "(?i:login)<space><run>{1,60}<space>(?i:password)<space>",
    "words": r"[^\n|;&\\]{0,100}?",  # of a command line
    "user": r"<opens>?[^\s:\"'\\]{1,60}",
    "first cookie": r"\{<gap><quote>name<colon>[^\"'\\]{1,60}<quote><gap>,<gap><value key>",
    "session": r"(?=[A-Za-z._~+/%:-]{0,60}[0-9])[A-Za-z0-9._~+/%:=-]{16,}+",
    "tab": r"(?:\t|\\+t)",
}


def expand(pattern: str) -> str:
    """Return a pattern with each `<piece>` in it written out."""
    while _PIECE.search(pattern):
        pattern = _PIECE.sub(lambda match: _PIECES[match[1]], pattern)
    return pattern
