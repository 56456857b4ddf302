"""Files that are there, whole, or not at all; reading what may be anybody's. It touches bytes and knows no job."""
