"""Training of networks, for whoever has some: the baselines and the columns of S2MAM alike.

``backend`` imports torch when it is first needed and seeds it; ``loop`` is the one training loop,
``average`` the running average of the weights it can keep, and ``parameters`` the checks of numbers
that come from users. Nothing here knows of tables, labels or estimators.
"""
