from playground.plugins.own_dialects.derivation import *  # noqa: F403
