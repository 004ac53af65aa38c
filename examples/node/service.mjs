// A bot as a service, for tournaments to call: all decisions that are awaited now, of many games at once.
//
//   PORT=50062 node service.mjs

import grpc from "@grpc/grpc-js";
import { choose, load } from "./contracts.mjs";

const { BotService } = load("baohuang/rpc/bots/v1/bots.proto").bots.v1;
const address = `127.0.0.1:${process.env.PORT ?? 50062}`;

const server = new grpc.Server({ "grpc.max_receive_message_length": 16 * 1024 * 1024 });
server.addService(BotService.service, {
  Start: (_call, answer) => answer(null, { name: "longest-set.js", version: "1" }),
  Choose: (call, answer) =>
    answer(null, {
      choices: call.request.decisions.map((decision) => ({
        game_id: decision.game_id,
        action: choose(decision.legal_actions),
        note: `one of ${decision.legal_actions.length}`,
      })),
    }),
  End: (_call, answer) => answer(null, {}),
});
server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  console.log(`serving on ${address}`);
});
