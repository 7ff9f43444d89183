"""What everything here is about: messages, tools, events, and a request as it is sent."""
