"""How the `static` embedding model is made: packages become pairs, pairs train token vectors."""
