from playground.plugins.own_dialects.audit import *  # noqa: F403
