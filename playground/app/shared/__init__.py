"""The parts that several pages share: cached answers, components, widgets, background work."""
