"""Operations that change users, their sources and their data."""
