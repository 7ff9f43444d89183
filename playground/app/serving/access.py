"""Decide, when the app starts, what visitors may do: ask models, reach addresses, store files.

At this machine's own address the visitor is the machine's user, and everything is allowed. At any
other address a visitor may be anybody: nothing is sent with this machine's keys, no address is
contacted on a visitor's behalf, no file of the machine is read or written. With `--allow-run`,
visitors who have the token may ask models; files stay closed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from playground.base import paths
from playground.base.errors import InputFault
from playground.base.hosts import is_loopback, own_names


@dataclass(frozen=True)
class Access:
    """The permissions of this server's visitors. Each visitor must present `token`, unless this is
    "".

    `hosts` are the names by which the server may be addressed; empty means any. If `workspace` is
    False, no session is stored on this machine, whatever `may_keep` is.
    """

    public: bool = False
    token: str = ""
    hosts: tuple[str, ...] = ()
    workspace: bool = True

    @property
    def may_run(self) -> bool:
        """True if models may be asked, with the environment's keys and at any address."""
        return not self.public or bool(self.token)

    @property
    def may_keep(self) -> bool:
        """True if files of this machine may be read and written for the visitor."""
        return not self.public

    @property
    def keeps_sessions(self) -> bool:
        """True if imported and edited sessions are stored on this machine."""
        return self.may_keep and self.workspace


NOBODY = Access(public=True)
ANY_NAME = "*"  # in `hosts`: the server answers to any name
NO_RUNS = (
    "This server is open to others, so no model is asked with its keys. "
    "To ask models, start `playground` on a machine of your own, or use `playground record` there."
)

_access: Access | None = None  # set by the code that started the server


def set_access(access: Access) -> None:
    """Set what visitors may do. Call this once, before the server starts."""
    global _access
    _access = access


def current() -> Access:
    """Return the permissions of this server's visitors.

    If the server was started without our command (`streamlit run playground/app/main.py`), its
    address decides: the server counts as public unless the address is known to be this machine's
    own. It also counts as public if it answers to any host name.
    """
    if _access is not None:
        return _access
    import streamlit as st

    address = st.get_option("server.address") or ""
    hosts = st.get_option("server.allowedHosts")
    if not is_loopback(address) or ANY_NAME in hosts:
        return NOBODY
    return Access(hosts=(*own_names(address), *hosts))


def hide_workspace() -> None:
    """Hide the workspace's dialects if nothing is stored for visitors."""
    if not current().keeps_sessions:
        os.environ[paths.NO_WORKSPACE] = "1"


def decide_access(address: str, public: bool, allow_run: bool, hosts: Sequence[str]) -> Access:
    """Return the access of a server at `address`.

    `hosts` are names that the user adds, such as that of a proxy in front of the server. Raises
    InputFault if `public` is False and others can reach the server, `hosts` has "*", or `allow_run`
    is set.
    """
    loopback = is_loopback(address)
    if allow_run and not public:
        raise InputFault("--allow-run is for a public server", expected="--public --allow-run")
    if not loopback and not public:
        raise InputFault(
            f"the address {address!r} can be reached from other machines",
            where="--server.address",
            expected="127.0.0.1, or --public (nobody can run models, nothing is kept), "
            "or --public --allow-run (who has the link with its token may run models)",
        )
    if ANY_NAME in hosts and not public:
        raise InputFault(
            "'*' lets in any page that points a name of its own at this machine (DNS rebinding)",
            where="--server.allowedHosts",
            expected="the names of the proxy in front, or --public",
        )
    own = own_names(address) if loopback else ()
    return Access(
        public=public,
        token=secrets.token_urlsafe(24) if allow_run else "",
        hosts=tuple(dict.fromkeys((*own, *hosts))),
    )


def answers_to(host: str) -> bool:
    """Return True if a request's Host header is a name that this server accepts."""
    name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
    hosts = current().hosts
    return not hosts or any(
        known in (ANY_NAME, name.lower())
        or (known[:2] == "*." and name.lower().endswith(known[1:]))
        for known in hosts
    )
