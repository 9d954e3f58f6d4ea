"""Every declared language: what is read from sources that look real, and the laws."""
