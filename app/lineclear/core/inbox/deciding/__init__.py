"""Deciding: the one path of every word, and denials that stand for a while."""
