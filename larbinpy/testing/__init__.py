"""Fakes and scripted servers, for larbinpy's own tests and for its users'."""
