"""Imitations of other systems, to the letter, so that their users can bring their work here.

Each room follows one upstream (DSPy's signatures and adapters, Flink-Agents, AIChatFlow and the Go
templates that it is written in) and is tested against it. Nothing outside of them follows their
rules: a dialect knows no signature. Scripts import them by the doors `playground.signatures`,
`agents`, `conversations` and `templates`, which stay where they are.
"""
