"""The paper's figures and theory, self-tuning and control: data -> run -> finding."""
