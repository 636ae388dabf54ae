"""The cheapest a fleet can be: a lower bound that no reachable state undercuts, and its certificate."""
