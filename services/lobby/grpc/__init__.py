"""The lobby over gRPC (protos/baohuang/rpc/lobby): the same application below as REST, the same answers."""
