"""The programs that run in the cluster. They import the standard library and `berth.core` only."""
