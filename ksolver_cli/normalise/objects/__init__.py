"""Objects other than pods: nodes, controllers, and the policies and names around them."""
