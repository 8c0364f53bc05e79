"""Worth: importance, salience, reinforcement, and what time does to evidence nobody renews."""
