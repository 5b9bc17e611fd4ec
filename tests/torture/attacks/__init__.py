"""The attacks, a module for each target; each lists its own as ATTACKS."""
