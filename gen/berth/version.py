"""The version of Berth: its only home; pyproject.toml reads it from here."""

VERSION = "0.1.0"
