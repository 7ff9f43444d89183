"""What several pages share: kept answers, components, widgets, waiting for the background."""
