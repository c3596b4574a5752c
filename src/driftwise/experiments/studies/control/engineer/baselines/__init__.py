"""What an engineer would use instead: integral action, a disturbance observer, a forecast with preview, LQG."""
