"""The nouns of this field: messages, tools, events, and a request as it is sent."""
