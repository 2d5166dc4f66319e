"""The stores of a run: each starts its processes, tells requests apart, and reads what it holds without code of Annals."""
