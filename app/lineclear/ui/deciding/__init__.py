"""From a call in view to a word on it: arming, asking, holding, carrying out."""
