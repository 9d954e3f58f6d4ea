"""Components of Vue, Svelte and Astro: a file of scripts and markup becomes a class with functions."""
