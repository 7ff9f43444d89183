from playground.plugins.own_dialects.laws import *  # noqa: F403
