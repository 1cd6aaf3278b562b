"""What the simulator costs, measured: run by ``thzsync bench``, or as scripts of their own."""
