from playground.plugins.savings.public import *  # noqa: F403
