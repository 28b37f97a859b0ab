"""What a whole request needs, whatever its wire."""
