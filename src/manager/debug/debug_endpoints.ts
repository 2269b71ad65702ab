/**
 * debugEndpoints(): the fetch handler of the debug endpoint of a process, all answers in JSON:
 *
 *   /debug/controllers  /debug/queues  /debug/keys?state=&limit=&continue=  /debug/caches  /debug/recording?after=
 *   /debug/why?kind=&key=&not=  /debug/why?entry=  /debug/source  /debug/objects  /debug/plan?limit=
 *   /debug/shards  /debug/clusters  /debug/cpu?seconds=  /debug/heap
 *
 * With a fleet, `cluster=` names the member that controllers, queues, keys, caches, objects and why are about; without it they
 * are about the hub, and why about the only cluster that has the object,
 * and of the page that shows them (`page/`).
 *
 * Guarantees: each request passes `debugGuard`; each answer is bounded in bytes and time.
 */
import { type Clock, scope } from "../../async/mod.ts";
import {
  answerWhy,
  type Explanation,
  type KnownController,
  type Question,
  type Sources,
  type WhyNot,
  withShard,
} from "../../explain/mod.ts";
import type { RecordingReader } from "../../observe/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { debugGuard, jsonResponse, refuse } from "./debug_guard.ts";
import type { DebugState } from "./debug_state.ts";
import { keysResponse } from "./keys_answers.ts";
import type { ObjectRow } from "./object_row.ts";
import type { PageSource } from "./page_source.ts";
import { PlanAnswers, type PlanSource } from "./plan_answers.ts";
import { ProfileAnswers } from "./profile_answers.ts";
import { durationBoundsMs } from "./reconcile_tally.ts";
import { RecordingAnswers } from "./recording_answers.ts";

/** Options of {@link debugEndpoints}. */
export interface DebugEndpointsOptions {
  readonly state: DebugState;
  readonly recording: RecordingReader;
  /** What clients must send as their bearer token. */
  readonly token: string;
  /** True if only this machine can reach the server. */
  readonly isLoopback: boolean;
  readonly clock: Clock;
  /** The most bytes of the heap of which a snapshot is made. @default 512 MiB */
  readonly maxHeapBytes?: number;
  /** The program, for the title of the page. @default no name */
  readonly program?: Pick<PageSource, "name" | "version">;
  /** Computes what the controllers would write now. @default there are no plans */
  readonly plan?: PlanSource;
  /** The members of a fleet. @default there is no fleet */
  readonly members?: DebugMembers;
}

/** The members of a fleet, as the debug endpoint shows them. */
export interface DebugMembers {
  /** The controllers that run in members. */
  controllers(): readonly KnownController[];
  /** What each member does. */
  clusters(): readonly object[];
  /** What the Manager of a member does at this moment; undefined if it does not run. */
  find(cluster: string): DebugState | undefined;
}

/** The most objects of one answer. */
export const maxObjects = 20_000;
const maxChains = 100;
/** Of the read that tells the slot of an object. */
const readTimeoutMs = 5_000;

/** Creates the handler. */
export function debugEndpoints(options: DebugEndpointsOptions): ServeHandler {
  const { recording, clock, isLoopback, maxHeapBytes } = options;
  const entries = new RecordingAnswers(recording, clock);
  const profiles = new ProfileAnswers({ clock, isLoopback, maxHeapBytes });
  const plans = new PlanAnswers(options);
  const inCluster = (answer: (state: DebugState, request: Request) => Response) => (request: Request): Response => {
    const state = stateFor(request, options);
    return state instanceof Response ? state : answer(state, request);
  };
  const handlers: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    "/debug/queues": inCluster((state) => jsonResponse(200, { now: clock.now(), queues: state.queues() })),
    "/debug/caches": inCluster((state) => jsonResponse(200, { now: clock.now(), caches: state.caches() })),
    "/debug/controllers": inCluster((state) =>
      jsonResponse(200, { now: clock.now(), durationBoundsMs, controllers: state.controllerStates() })
    ),
    "/debug/shards": () => shardsResponse(options),
    "/debug/clusters": () => clustersResponse(options),
    "/debug/keys": inCluster((state, request) => keysResponse(request, { state, clock })),
    "/debug/source": () => jsonResponse(200, sourceOf(options)),
    "/debug/objects": inCluster((state) => objectsResponse(state.objects(maxObjects + 1), clock.now())),
    "/debug/recording": (request) => entries.respond(request),
    "/debug/why": (request) => whyResponse(request, options),
    "/debug/plan": (request) => plans.respond(request),
    "/debug/cpu": (request) => profiles.cpu(request),
    "/debug/heap": () => profiles.heap(),
  };
  return debugGuard(async (request) => {
    const { pathname } = new URL(request.url);
    const handler = Object.hasOwn(handlers, pathname) ? handlers[pathname] : undefined;
    return handler === undefined
      ? refuse(404, `There is no such path. There are ${Object.keys(handlers).join(", ")}`)
      : await handler(request);
  }, options);
}

/** The state that the query of a request means; or a response that refuses it. */
function stateFor(request: Request, { state, members }: DebugEndpointsOptions): DebugState | Response {
  const cluster = new URL(request.url).searchParams.get("cluster");
  if (cluster === null) return state;
  if (members === undefined) return refuse(404, noFleet);
  return members.find(cluster) ?? refuse(404, "No member of the fleet with that name runs. /debug/clusters has all");
}

const noFleet = "This process has no fleet. Start it with run --clusters";

function clustersResponse({ members, clock }: DebugEndpointsOptions): Response {
  return members === undefined
    ? refuse(404, noFleet)
    : jsonResponse(200, { now: clock.now(), clusters: members.clusters() });
}

/** What a page of a process may ask for. */
function sourceOf({ state, recording, clock, program, plan, members }: DebugEndpointsOptions): PageSource {
  const { lastId, dropped } = recording;
  const first = recording.entries()[0]?.id ?? lastId + 1;
  return {
    kind: "process",
    ...(program ?? { name: "" }),
    now: clock.now(),
    controllers: [...state.controllers(), ...members?.controllers() ?? []],
    hasStates: false,
    canPlan: plan !== undefined,
    firstId: first,
    lastId,
    dropped,
  };
}

/** @param rows One more than fit, if there are more */
export function objectsResponse(rows: readonly ObjectRow[], now: number): Response {
  return jsonResponse(200, { now, isComplete: rows.length <= maxObjects, objects: rows.slice(0, maxObjects) });
}

function shardsResponse({ state, clock }: DebugEndpointsOptions): Response {
  const shards = state.shards();
  return shards === undefined
    ? refuse(404, "This process does not divide its keys with others. Start it with run --shards")
    : jsonResponse(200, { now: clock.now(), ...shards });
}

/**
 * The answer of `why`: what happened to an object, or why nothing does, or what an entry belongs to; with shards also which
 * replica reconciles the object.
 */
async function whyResponse(request: Request, options: DebugEndpointsOptions): Promise<Response> {
  const { state, recording, clock, members } = options;
  const explained = explain(request, {
    entries: recording.entries(),
    controllers: [...state.controllers(), ...members?.controllers() ?? []],
    now: clock.now(),
    dropped: recording.dropped,
    factsOf: (subject, cluster) => (cluster === undefined ? state : members?.find(cluster))?.facts(subject) ?? {},
  });
  if (explained instanceof Response) return explained;
  const { object } = explained;
  using limited = scope(request.signal, { timeoutMs: readTimeoutMs, clock });
  const shard = object && await state.shardOf(object, limited.signal);
  const answer = object === undefined || shard === undefined ? explained : withShard(explained, object, shard);
  return jsonResponse(200, { now: clock.now(), ...answer });
}

/** Answers `why` for a kind and a key, or an entry, in the query of a request. */
export function explainedResponse(request: Request, sources: Omit<Sources, "limit" | "isAll">): Response {
  const explained = explain(request, sources);
  return explained instanceof Response ? explained : jsonResponse(200, { now: sources.now, ...explained });
}

/** The answer to the query of a request; or a response that refuses it. */
function explain(request: Request, sources: Omit<Sources, "limit" | "isAll">): Explanation | WhyNot | Response {
  const { searchParams } = new URL(request.url);
  const question = questionOf(searchParams);
  if (typeof question === "string") return refuse(400, question);
  const limit = Number(searchParams.get("limit") ?? "10");
  if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= maxChains)) {
    return refuse(400, `limit is not a number from 1 to ${maxChains}`);
  }
  const answer = answerWhy(question, { ...sources, limit, isAll: searchParams.has("all") });
  return answer.kind === "unknown" ? refuse(404, `${answer.problem}. ${answer.advice}`) : answer.answer;
}

/** The question of a query; or why it is none. */
function questionOf(query: URLSearchParams): Question | string {
  const [kind, name, id] = [query.get("kind"), query.get("key"), query.get("entry")];
  if (id !== null) {
    const entry = Number(id);
    return Number.isSafeInteger(entry) && entry >= 1 ? { entry } : "entry is not the id of an entry";
  }
  if (kind === null || name === null) return "kind or key is missing";
  const cluster = query.get("cluster") ?? undefined;
  const namespace = query.get("namespace") ?? undefined;
  return { kind, name, namespace, isNot: query.has("not"), ...(cluster === undefined ? {} : { cluster }) };
}
