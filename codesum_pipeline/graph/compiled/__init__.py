"""What a compiler's index says about calls, imports and bases, put in the place of what was read off the syntax."""
