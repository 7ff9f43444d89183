from playground.plugins.trials.demo_server import *  # noqa: F403
