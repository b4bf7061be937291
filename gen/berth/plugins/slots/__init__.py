"""Slots: Koordinator Reservations that hold the seats of a pool."""
