// A player on a server: registers, asks for a quick match, plays one hand.
//
//   LOBBY_GRPC=127.0.0.1:50051 node bot.mjs

import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import grpc from "@grpc/grpc-js";
import { choose, load } from "./contracts.mjs";

const server = process.env.LOBBY_GRPC ?? "127.0.0.1:50051";
const lobby = {
  ...load("baohuang/rpc/lobby/v1/players.proto").lobby.v1,
  ...load("baohuang/rpc/lobby/v1/matches.proto").lobby.v1,
  ...load("baohuang/rpc/lobby/v1/games.proto").lobby.v1,
};
const credentials = grpc.credentials.createInsecure();
const players = new lobby.PlayerService(server, credentials);
const matches = new lobby.MatchService(server, credentials);
const games = new lobby.GameService(server, credentials);
const metadata = new grpc.Metadata();

const { UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED } = grpc.status;
const isNoAnswer = (error) =>
  [UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED].includes(error.code);

// One call, sent again for as long as it has no answer. Commands carry ids, so that each is done once.
async function call(service, method, request) {
  for (;;) {
    try {
      return await new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + 10_000 };
        service[method](request, metadata, options, (error, answer) => (error ? reject(error) : resolve(answer)));
      });
    } catch (error) {
      if (!isNoAnswer(error)) throw error;
      await pause(300);
    }
  }
}

// The decision that is awaited in a game, if there is one.
async function act(gameId) {
  const offered = await call(games, "GetLegalActions", { game_id: gameId });
  if (offered.actions.length === 0) return;
  try {
    await call(games, "Act", {
      game_id: gameId,
      command_id: `${gameId}.${offered.version}`,
      expected_version: offered.version,
      action: choose(offered.actions),
    });
  } catch (error) {
    // Somebody was quicker: the server's clock, or this very program before its connection broke.
    if (![grpc.status.ABORTED, grpc.status.FAILED_PRECONDITION].includes(error.code)) throw error;
  }
}

// All that the stream of one's games says, opened again wherever it breaks off.
async function* myGames() {
  let cursor;
  for (;;) {
    const stream = games.WatchMyGames({ after_cursor: cursor }, metadata);
    try {
      for await (const message of stream.iterator({ destroyOnReturn: false })) {
        if (message.cursor) cursor = message.cursor;
        yield message;
      }
    } catch (error) {
      if (!isNoAnswer(error)) throw error;
    } finally {
      stream.on("error", () => {}); // of the call that is given up here
      stream.cancel();
    }
    await pause(300);
  }
}

const name = `node ${randomUUID().slice(0, 8)}`;
const { player, secret } = await call(players, "RegisterPlayer", { name, is_bot: true });
metadata.set("authorization", `Bearer ${secret}`);
console.log(`registered ${player.name}`);

const { ticket } = await call(matches, "RequestMatch", {
  command_id: randomUUID(),
  rules: { preset: "marked-guard" },
  bots_after_seconds: 0,
});
console.log(`ticket ${ticket.ticket_id}`);

// A quick match is filled with built-in bots while its ticket is looked at.
const looking = setInterval(() => matches.GetMatch({ ticket_id: ticket.ticket_id }, metadata, () => {}), 1_000);

for await (const message of myGames()) {
  if (message.message === "all_games") {
    for (const game of message.all_games.games) await act(game.game_id);
  } else if (message.message === "began" || message.message === "asked") {
    await act(message[message.message].game.game_id);
  } else if (message.message === "ended") {
    const { game, outcome } = message.ended;
    console.log(`${game.game_id}: ${outcome.scores[game.seat]} in seat ${game.seat}`);
    break;
  }
}
clearInterval(looking);
for (const service of [players, matches, games]) service.close();
