"""Figure 2 of the paper (Section 6.2): OGD.Control, Ader.Control and Scream.Control under changing costs."""
