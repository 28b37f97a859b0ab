"""Fuzzing, soak and endurance by command; ``tests/test_fuzz.py`` runs some of it."""
