"""Fuzzing, soak and endurance by command; ``tests/whole/test_fuzz.py`` runs some."""
