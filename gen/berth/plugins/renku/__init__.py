"""Templates of Renku projects."""
