"""Exact imitations of other systems, for users who bring their work from there.

Each folder imitates one system and is tested against it: DSPy's signatures and adapters,
Flink-Agents, AIChatFlow, and the Go templates that AIChatFlow uses. No other folder has rules
of these systems. Scripts import `playground.signatures`, `playground.agents`,
`playground.conversations` and `playground.templates`; these paths do not change.
"""
