from playground.plugins.corpus.asking import *  # noqa: F403
