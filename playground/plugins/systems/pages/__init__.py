"""What the pages of the imitated systems are made of."""
