"""Parts of the in-cluster code that only some clusters use. Each package is a ConfigMap of its own."""
