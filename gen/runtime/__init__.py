"""The programs that run in the cluster. They import the standard library and `gen.core` only."""
