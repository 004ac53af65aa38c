"""The platform's processes. None imports another: they meet over gRPC, the event log and the queue."""
