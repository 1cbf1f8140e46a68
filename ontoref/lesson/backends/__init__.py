"""Where lessons can be kept."""
