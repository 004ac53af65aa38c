// The contracts, read from protos/ when a program starts.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const protos = fileURLToPath(new URL("../../protos", import.meta.url));

export function load(file) {
  const definition = loader.loadSync(file, {
    includeDirs: [protos],
    keepCase: true, // fields are named as in the contracts
    enums: String,
    longs: String,
    defaults: true,
    oneofs: true,
  });
  return grpc.loadPackageDefinition(definition).baohuang.rpc;
}

// The policy of both programs: the longest play, else the last action listed, which is a pass or a "no".
export function choose(actions) {
  const plays = actions.filter((action) => action.kind === "ACTION_KIND_PLAY");
  plays.sort((one, other) => other.cards.length - one.cards.length);
  return plays[0] ?? actions.at(-1);
}
