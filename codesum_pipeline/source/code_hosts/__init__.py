"""Code hosts are asked which repositories an organisation has, and the registry follows."""
