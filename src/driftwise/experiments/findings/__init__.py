"""What was found, as data: claims, tables, panels, and where the numbers come from."""
