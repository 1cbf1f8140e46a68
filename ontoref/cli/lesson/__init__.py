"""The commands over lessons."""
