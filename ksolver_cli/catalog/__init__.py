"""Reads the price and hardware catalogs."""
