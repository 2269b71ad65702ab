/**
 * recordingEndpoints(): the same paths as those of a process, for a recording that has ended, so that the same page opens it:
 *
 *   /debug/source  /debug/recording?after=  /debug/why?kind=&key=&not=  /debug/objects?at=  /debug/object?resource=&key=&at=
 *
 * Guarantees: each request passes `debugGuard`.
 */
import type { KnownController } from "../../explain/mod.ts";
import type { Entry, RecordingReader } from "../../observe/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { printYaml } from "../../yaml/mod.ts";
import { explainedResponse, maxObjects, objectsResponse } from "./debug_endpoints.ts";
import { debugGuard, jsonResponse, refuse } from "./debug_guard.ts";
import type { PageSource } from "./page_source.ts";
import { RecordedWorld } from "./recorded_world.ts";
import { RecordingAnswers } from "./recording_answers.ts";

/** Options of {@link recordingEndpoints}. */
export interface RecordingEndpointsOptions {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly controllers: readonly KnownController[];
  readonly source: Pick<PageSource, "name" | "version" | "file" | "isFirstMissing" | "isTruncated">;
  /** What clients must send as their bearer token. */
  readonly token: string;
  /** True if only this machine can reach the server. */
  readonly isLoopback: boolean;
}

/** The newest entries that a page shows: more would be too many for a browser. */
const maxShown = 100_000;

/** Creates the handler. */
export function recordingEndpoints(options: RecordingEndpointsOptions): ServeHandler {
  const { entries, controllers } = options;
  const reader = readerOf(entries);
  const pages = new RecordingAnswers(reader);
  const world = new RecordedWorld(entries);
  const now = entries.at(-1)?.at ?? 0;
  const firstId = entries.at(-maxShown)?.id ?? entries[0]?.id ?? 1;
  const dropped = Math.max(0, entries.length - maxShown);
  const { hasStates } = world;
  const { lastId } = reader;
  const source: PageSource = {
    kind: "recording",
    ...options.source,
    ...{ now, controllers, hasStates, firstId, lastId, dropped },
  };
  const handlers: Readonly<Record<string, (request: Request) => Response>> = {
    "/debug/source": () => jsonResponse(200, source),
    "/debug/recording": (request) => pages.respond(request),
    "/debug/why": (request) => explainedResponse(request, { entries, controllers, now }),
    "/debug/objects": (request) =>
      withMoment(request, lastId, (at) => objectsResponse(world.rows(at).slice(0, maxObjects + 1), now)),
    "/debug/object": (request) => withMoment(request, lastId, (at) => objectResponse(request, world, at)),
  };
  return debugGuard((request) => {
    const { pathname } = new URL(request.url);
    const handler = Object.hasOwn(handlers, pathname) ? handlers[pathname] : undefined;
    return handler === undefined
      ? refuse(404, `A recording has no such path. It has ${Object.keys(handlers).join(", ")}`)
      : handler(request);
  }, options);
}

/** Passes on the entry of `at` in the query; the last one if there is none. */
function withMoment(request: Request, lastId: number, answer: (at: number) => Response): Response {
  const at = Number(new URL(request.url).searchParams.get("at") ?? lastId);
  return Number.isSafeInteger(at) && at >= 0 ? answer(at) : refuse(400, "at is not the id of an entry");
}

function objectResponse(request: Request, world: RecordedWorld, at: number): Response {
  const { searchParams } = new URL(request.url);
  const [resource, key] = [searchParams.get("resource"), searchParams.get("key")];
  if (resource === null || key === null) return refuse(400, "resource or key is missing");
  const found = world.find(resource, key, at);
  // To go through a recording is to ask for what does not exist yet: that is an answer.
  return jsonResponse(200, found === undefined ? { text: "" } : { entry: found.entry, text: printYaml(found.object) });
}

/** A recording that does not grow. */
function readerOf(entries: readonly Entry[]): RecordingReader {
  return {
    lastId: entries.at(-1)?.id ?? 0,
    dropped: 0,
    bytes: 0,
    entries: (after = 0, limit = Infinity) => {
      const from = firstAfter(entries, after);
      return entries.slice(from, from + limit);
    },
    find: (id) => {
      const entry = entries[firstAfter(entries, id - 1)];
      return entry?.id === id ? entry : undefined;
    },
    subscribe: () => ({ [Symbol.dispose]: () => {} }),
  };
}

/** The index of the first entry with a higher id, found by halving. */
function firstAfter(entries: readonly Entry[], id: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.id ?? Infinity) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
