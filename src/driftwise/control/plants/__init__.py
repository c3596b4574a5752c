"""Plants, and what disturbs them."""
