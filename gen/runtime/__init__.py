"""The code that runs in the cluster: standard library only, and nothing of ours but this package."""
