"""What a control engineer would measure: plants, loads and alternatives beside the controller without knobs."""
