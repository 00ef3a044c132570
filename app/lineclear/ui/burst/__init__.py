"""Several calls of one tool decided together: their table, its arming, and carrying it out."""
