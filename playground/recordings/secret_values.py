"""Patterns of values that words announce: their ends, and what is no value."""

from __future__ import annotations

from typing import Final

# In JSON that is a text of JSON, and so four times, a quotation mark has 15 backslashes before it.
QUOTE: Final = r"\\{0,15}[\"']"
GAP: Final = r"(?>(?:\s|\\{1,15}[nrt]){0,40})"  # JSON may be indented

INNER: Final = r"[\w!#$%^*@~]"  # what follows a mark within a value, and not the mark that ends it
VALUE: Final = r"^\s\"'\\,;&<>(){}\[\]"
# A comma within a value, but not the one before the next name: `Password=a,b;User=c`.
JOINT: Final = rf"(?:[,;&](?![\w.-]{{1,40}}\s{{0,2}}[=:])|[(){{}}\[\]])(?={INNER})"
MARK: Final = rf"(?:\\{{0,15}}[\"'`]|[<>])(?={INNER})"
ESCAPE: Final = r"\\{1,15}(?:u[0-9a-fA-F]{4}|[/A-Zac-mo-qsv-z0-9!#$%^*@&])"
PLAIN: Final = rf"(?:[{VALUE}]|{JOINT})"
IN_QUOTES: Final = rf"(?:[^\s\"'`\\<>]|{MARK}|{ESCAPE})"
TO_LINE_END: Final = rf"(?:[{VALUE}]|{JOINT}|{MARK})"  # of an environment's file
DIGIT_AND_LETTER: Final = rf"(?=[{VALUE}0-9]{{0,199}}[0-9])(?=[^A-Za-z\s\"'\\]{{0,199}}[A-Za-z])"
NUMBER: Final = r"(?!-?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,3})?\s{0,40}[,}\]])"  # a bare one of JSON
CALLED: Final = r"(?![\w.]{1,120}[(\[])"  # a call or an item of a list, in code
CALL_ALONE: Final = rf"(?![\w.]{{1,120}}\([^()\s]{{0,80}}\){QUOTE})"
ELSEWHERE: Final = (  # a name for a value that is somewhere else
    r"(?!\$?\{{1,2}[^{}\n]{0,80}\}|\$\(|\$[A-Z_][A-Z0-9_]{0,80}(?![a-z])|%\(|<[^<>\n]{0,80}>"
    r"|(?:process\.env|import\.meta|os\.environ|self|this|settings|config|args|options|secrets"
    r"|env|vars?)\.[A-Za-z_]|arn:aws|op://|(?:/[a-z][\w.-]{1,40}){2,12}/?(?![\w/+=-]))"
    r"(?!(?i:your)(?:[_-](?i:[a-z]{1,20})){1,6}(?:[_-]?[0-9]{1,3})?(?![\w!#$%^*@~-]))"
)
# An identifier that speaks of a secret: `my-k8s-secret-1`, `useApiKey1`.
IDENTIFIER: Final = (
    r"(?!(?=[\w-]{0,60}(?i:key|token|secret|passw|cred))(?:(?:[A-Z]?[a-z]{2,15}|[a-z][0-9][a-z]"
    r"|[0-9]{1,2})(?:[_-]|(?=[A-Z0-9]))){2,6}(?:[A-Z]?[a-z]{2,15})?[0-9]{0,2}(?![\w!#$%^*@~+/=-]))"
)
NO_FILE: Final = r"(?!\.{0,2}/[\w.-]{1,60}/|[.~]{1,2}/|@|id=|\w{2,10}://)"
RANDOM: Final = (
    rf"(?:(?=[A-Za-z_~+/=.-]{{0,80}}[0-9])(?=[A-Z0-9_~+/=.-]{{0,80}}[a-z])"
    rf"(?=[a-z0-9_~+/=.-]{{0,80}}[A-Z]){CALLED}[A-Za-z0-9_~+/=.-]{{20,}}+|[0-9a-f]{{32,}}+)"
)
SENTENCE: Final = r"[\w!#$%^&*@~+=-]|[.,:/?](?=\w)"
TECHNICAL: Final = (  # "the password is base64url2", "an 8-character one"
    r"(?!(?i:sha|md|base|utf|aes|rsa|bcrypt|pbkdf|argon|hmac|hs|es|rs|v|oauth|http|type|len\w{0,4})"
    r"[-_]?[0-9]|[0-9]{1,4}[-_]?[a-z]+\b)"
)


def of_both(unit: str) -> str:
    """Looks ahead for a digit and for a letter in such a value."""
    return "".join(f"(?=(?:(?!{each}){unit}){{0,199}}+{each})" for each in ("[0-9]", "[A-Za-z]"))
