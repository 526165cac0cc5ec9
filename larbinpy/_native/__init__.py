"""The compiled hot path; private, one stub (``.pyi``) per module, sources in ``ext/``."""
