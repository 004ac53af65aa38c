"""What `make bench` measures. Nothing is asserted: the figures are for reading and comparing."""
