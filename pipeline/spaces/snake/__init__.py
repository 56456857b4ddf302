"""The snake: a chain of unit edges on the square grid whose joints turn by 90 degrees."""
