"""Real series, read from the files of installed packages."""
