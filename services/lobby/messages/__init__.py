"""What goes over the wire: requests and answers of the REST interface, which the gRPC edge converts."""
