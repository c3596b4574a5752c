"""What disturbs a plant: seeded noise, patterns, and an adversary that watches the state."""
