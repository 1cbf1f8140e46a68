"""Interaction records: written, checked and queried."""
