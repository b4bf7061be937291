"""Rules and values shared by the generator and the programs in the cluster; standard library only."""
