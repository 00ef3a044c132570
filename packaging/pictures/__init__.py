"""Scenes of the real window on real stores, for its pictures."""
