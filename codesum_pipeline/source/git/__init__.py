"""Git: repositories, mirrors of them, their commits and files."""
