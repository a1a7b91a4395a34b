"""Mails in a team's name: their texts, and how they are composed and sent."""
