"""Small exact cores, for which CP-SAT is the right tool."""
