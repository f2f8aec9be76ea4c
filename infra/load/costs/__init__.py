"""What each station of a token costs a web process."""
