"""Files that survive kill -9, and folders that do not outlive their process."""
