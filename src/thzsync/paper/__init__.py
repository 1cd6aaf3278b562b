"""The paper: its figures, its published numbers, and everything that exists to reproduce them."""
