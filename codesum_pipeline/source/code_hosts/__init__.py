"""Asks code hosts which repositories an organisation has, and updates the registry."""
