/**
 * takingTurns(): a transport in this process that leaves time for those at the sockets. Controllers and API server in one
 * process work for each other without ever waiting for anything; a client with a connection would have to wait until
 * they are all done, 0.2 s when a cluster starts.
 */
import type { Clock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import { nextTurn } from "../runtime/mod.ts";

/** Milliseconds of work in one go; a handshake needs a few turns, and a turn without anybody waiting costs microseconds. */
const turnMs = 4;

/** Lets the event loop turn before a request when it has not for a while. */
export function takingTurns(to: Transport, clock: Pick<Clock, "monotonic">): Transport {
  let turnedAt = clock.monotonic();
  let turn: Promise<void> | undefined;
  const begin = async () => {
    await nextTurn();
    turn = undefined;
    turnedAt = clock.monotonic();
  };
  return async (request) => {
    if (turn === undefined && clock.monotonic() - turnedAt >= turnMs) turn = begin();
    if (turn !== undefined) await turn;
    return await to(request);
  };
}
