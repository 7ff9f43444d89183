from playground.plugins.trials.public import *  # noqa: F403
