"""Numbers in objects of somebody else, which go back to what they were."""
