"""Result files, and the leaderboard and tables made of them."""
