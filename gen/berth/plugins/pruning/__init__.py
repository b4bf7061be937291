"""What the sweep removes where no engine prunes."""
