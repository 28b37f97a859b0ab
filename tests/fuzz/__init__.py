"""Fuzzing, soak and endurance by command; ``tests/test_fuzz.py`` runs a little of it."""
