"""Secrets, and files that are nothing but keys: found, and masked before anything is stored or sent."""
