/**
 * follow(): fills a Model: all entries that exist in pages, then those that happen as server-sent events, and every two seconds
 * what the process says about its queues, keys and caches.
 *
 * Guarantees: no entry is missed while the process keeps it; after a lost connection it continues where it was.
 */
import type { Entry } from "../../src/observe/mod.ts";
import type { CacheState, QueueState } from "../../src/manager/debug/debug_state.ts";
import type { KeyState } from "../../src/manager/debug/key_states.ts";
import type { ObjectRow } from "../../src/manager/debug/object_row.ts";
import type { PageSource } from "../../src/manager/debug/page_source.ts";
import { type Api, Problem } from "./api.ts";
import type { Model } from "./model.ts";

/** How the page stands to its source. */
export type Connection =
  | { readonly kind: "reading" }
  | { readonly kind: "live" }
  /** Others follow the process already: this page asks every two seconds. */
  | { readonly kind: "polling" }
  | { readonly kind: "lost"; readonly since: number; readonly problem: Problem }
  /** A recording, which does not grow. */
  | { readonly kind: "complete" };

const pollMs = 2_000;
const retryMs = 2_000;

/** Follows until the signal. @param onConnection Called with each change @throws Problem when the token is wrong */
export async function follow(
  model: Model,
  api: Api,
  { signal, onConnection }: {
    readonly signal: AbortSignal;
    readonly onConnection: (connection: Connection) => void;
  },
): Promise<void> {
  const isProcess = model.source.kind === "process";
  const polling = isProcess ? poll(model, api, signal) : undefined;
  polling?.catch(() => {});
  let lostSince: number | undefined;
  while (!signal.aborted) {
    try {
      await readPages(model, api, signal);
      if (!isProcess) {
        await readObjects(model, api, signal).catch(() => {});
        return onConnection({ kind: "complete" });
      }
      lostSince = undefined;
      await readStream(model, api, signal, onConnection);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      if (error.kind === "token" || error.kind === "forbidden") throw error;
      lostSince ??= Date.now();
      onConnection({ kind: "lost", since: lostSince, problem: error });
      await sleep(retryMs, signal);
      await assertSameProcess(model, api, signal);
    }
  }
}

/** A process that was started again counts from 1: the page begins again. */
async function assertSameProcess(model: Model, api: Api, signal: AbortSignal): Promise<void> {
  const source = await api.get<PageSource>("debug/source", signal).catch((error) => {
    if (error instanceof Problem && error.kind === "token") throw error;
    return undefined;
  });
  if (source !== undefined && source.lastId < model.lastId) location.reload();
}

async function readPages(model: Model, api: Api, signal: AbortSignal): Promise<void> {
  while (true) {
    const path = `debug/recording?brief&after=${model.lastId}`;
    const { entries } = await api.get<{ readonly entries: readonly Entry[] }>(path, signal);
    model.add(entries);
    if (entries.length === 0) break;
    await nextFrame();
  }
  model.isComplete = true;
  model.changed();
}

async function readStream(
  model: Model,
  api: Api,
  signal: AbortSignal,
  onConnection: (connection: Connection) => void,
): Promise<void> {
  try {
    const stream = api.events(`debug/recording?brief&after=${model.lastId}`, signal);
    onConnection({ kind: "live" });
    for await (const { event, data } of stream) {
      // The server ends a stream that is read too slowly: the pages have the rest.
      if (event !== "message") return;
      // A comment says that the connection lives.
      if (data !== "") model.add([JSON.parse(data)]);
    }
    throw new Problem("gone", "The connection has ended");
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== "busy") {
      if (signal.aborted || error instanceof Problem) throw error;
      throw new Problem("gone", "The connection has ended");
    }
    onConnection({ kind: "polling" });
    await sleep(pollMs, signal);
  }
}

/** Asks for what no entry says. A failure is shown by the other loop. */
async function poll(model: Model, api: Api, signal: AbortSignal): Promise<void> {
  let objectsAt = -1;
  while (!signal.aborted) {
    try {
      const [{ queues }, { caches }, { keys, isComplete }] = await Promise.all([
        api.get<{ readonly queues: readonly QueueState[] }>("debug/queues", signal),
        api.get<{ readonly caches: readonly CacheState[] }>("debug/caches", signal),
        readKeys(api, signal),
      ]);
      model.live = { queues, caches };
      model.setKeys(keys, isComplete);
      if (objectsAt !== model.lastId) {
        objectsAt = model.lastId;
        await readObjects(model, api, signal);
      }
      model.changed();
    } catch (error) {
      if (!(error instanceof Problem) && !signal.aborted) throw error;
    }
    await sleep(pollMs, signal);
  }
}

const maxKeyPages = 10;

/** The keys that are at work, page by page. */
async function readKeys(
  api: Api,
  signal: AbortSignal,
): Promise<{ readonly keys: readonly KeyState[]; readonly isComplete: boolean }> {
  const keys: KeyState[] = [];
  let path = "debug/keys";
  for (let page = 0; page < maxKeyPages; page++) {
    const answer = await api.get<{ readonly keys: readonly KeyState[]; readonly continue?: string }>(path, signal);
    keys.push(...answer.keys);
    if (answer.continue === undefined) return { keys, isComplete: true };
    path = `debug/keys?${new URLSearchParams({ continue: answer.continue })}`;
  }
  return { keys, isComplete: false };
}

async function readObjects(model: Model, api: Api, signal: AbortSignal): Promise<void> {
  const answer = await api.get<{ readonly objects: readonly ObjectRow[]; readonly isComplete: boolean }>(
    "debug/objects",
    signal,
  );
  model.setObjects(answer.objects, answer.isComplete);
}

/** Lets the browser draw. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
