"""A text becomes a vector, by a model that a setting names.

The promise that the index rests on: a vector depends on its text and the model, never on the batch or the order. The
models that run here keep it to the last bit; those of a provider as well as the provider does.
"""
