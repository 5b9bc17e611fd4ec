"""Commands that work on data and models: fit, predict, evaluate, tune, embed, bicluster, gram, run, show."""
