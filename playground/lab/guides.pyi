from playground.plugins.guides.public import *  # noqa: F403
