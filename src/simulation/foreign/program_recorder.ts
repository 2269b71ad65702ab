/**
 * ProgramRecorder: what a program sends and gets, as entries of a recording: its writes with their answers, its reads, and the
 * events of its watches. Why it sends a request only the program knows, so there are no reconciles and no causes but faults.
 *
 * Guarantees: requests and responses pass unchanged.
 */
import { initialEventsEnd, type KubeObject } from "../../api/mod.ts";
import { changedFields, type NewEntry, type ObjectRef, type Plain, type Recorder } from "../../observe/mod.ts";
import { type RequestInfo, requestInfo } from "../../manager/mod.ts";
import type { Clock } from "../../async/mod.ts";
import { collectionOf, keyOfInfo } from "../engine.ts";
import type { SendRequest } from "./front_server.ts";

/** Options of a {@link ProgramRecorder}. */
export interface ProgramRecorderOptions {
  readonly recorder: Recorder;
  readonly clock: Clock;
  /** The kind of a collection: `Deployment` of `deployments.apps`. */
  readonly kindOf: (collection: string) => string;
}

interface SentRequest {
  readonly request: Request;
  readonly info: RequestInfo;
  /** `namespace/name` of the object, also of one that the request creates. */
  readonly key: string;
  readonly startedAt: number;
}

/** What is read of an object or a Status. */
interface Answered {
  readonly kind?: string;
  readonly metadata?: KubeObject["metadata"];
  readonly items?: readonly unknown[];
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly uid?: string };
}

interface WatchEvent {
  readonly type?: string;
  readonly object?: KubeObject;
}

/** Records the requests of one process. */
export class ProgramRecorder {
  readonly #options: ProgramRecorderOptions;
  /** What the watches have shown, by collection and key. */
  readonly #seen = new Map<string, KubeObject>();

  constructor(options: ProgramRecorderOptions) {
    this.#options = options;
  }

  /** The same, recorded. */
  recorded(send: SendRequest): SendRequest {
    return async (request, key) => {
      const info = requestInfo(request);
      if (info === undefined) return await send(request, key);
      const startedAt = this.#options.clock.monotonic();
      const sent = { request, info, key: key ?? keyOfInfo(info), startedAt };
      const body = request.method === "GET" ? "" : await request.clone().text();
      try {
        const response = await send(request, key);
        return info.verb === "watch" ? this.#watched(response, sent) : await this.#answered(response, sent, body);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.#record(sent, body, { failure: { kind: "failed", message } });
        throw error;
      }
    };
  }

  async #answered(response: Response, sent: SentRequest, body: string): Promise<Response> {
    const object: Answered = parsed(await response.clone().text()) ?? {};
    const { reason, message = "" } = object;
    const isMissing = response.status === 404 && sent.request.method === "GET";
    if (response.ok || isMissing) this.#record(sent, body, { object: response.ok ? object : {} });
    else this.#record(sent, body, { failure: { kind: "failed", code: response.status, reason, message } });
    return response;
  }

  #record(
    sent: SentRequest,
    body: string,
    { object = {}, failure }: { readonly object?: Answered; readonly failure?: FailedEntry },
  ): void {
    const { request, info, startedAt } = sent;
    const { recorder, clock } = this.#options;
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const ref = this.#refOf(sent, object);
    const [, subresource] = info.resource.split("/");
    const state = recorder.keepsStates && failure === undefined ? { state: object as Plain } : {};
    const common = {
      causes: [],
      object: ref,
      durationMs,
      ...(subresource === undefined ? {} : { subresource }),
      ...state,
    };
    if (request.method === "GET") {
      const { pathname, search } = new URL(request.url);
      const read = object.items === undefined
        ? { resourceVersion: object.metadata?.resourceVersion }
        : { objects: object.items.length, path: `${pathname}${search}` };
      recorder.record({
        kind: "read",
        from: "server",
        ...common,
        ...read,
        ...(failure === undefined ? {} : { failure }),
      });
      return;
    }
    const contentType = request.headers.get("content-type") ?? undefined;
    const manager = new URL(request.url).searchParams.get("fieldManager") ?? undefined;
    const verb = contentType?.startsWith("application/apply-patch") === true ? "apply" : writeVerbOf(info.verb);
    if (verb === undefined) return;
    recorder.record({
      ...{ kind: "write", verb, ...common, fieldManager: manager, contentType, bodyText: body },
      answer: failure ?? answerOf(request, object),
    });
  }

  #refOf({ info, key }: SentRequest, { kind, metadata }: Answered): ObjectRef {
    const resource = collectionOf(info);
    // The server may have generated the name.
    const name = key.endsWith("*") && kind !== "Status" ? nameIn(metadata) ?? key : key;
    return { resource, kind: this.#options.kindOf(resource), ...(name === "" ? {} : { key: name }) };
  }

  /** The response of a watch, whose events are recorded when the program gets them. */
  #watched(response: Response, { info, request }: SentRequest): Response {
    if (!response.ok || response.body === null) return response;
    const decoder = new TextDecoder();
    let rest = "";
    let isInitial = request.url.includes("sendInitialEvents=true");
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) {
            const event: WatchEvent = parsed(line) ?? {};
            if (event.object?.metadata.annotations?.[initialEventsEnd] === "true") isInitial = false;
            this.#recordEvent(collectionOf(info), event, isInitial);
          }
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #recordEvent(resource: string, { type = "", object }: WatchEvent, isInitial: boolean): void {
    const change = changes.get(type);
    if (change === undefined || object === undefined) return;
    const { uid, resourceVersion } = object.metadata;
    const key = nameIn(object.metadata) ?? "";
    const name = `${resource} ${key}`;
    const old = this.#seen.get(name);
    if (change === "deleted") this.#seen.delete(name);
    else this.#seen.set(name, object);
    const { fields, more } = change === "updated" && old !== undefined
      ? changedFields(old, object, resource === "secrets")
      : { fields: undefined, more: 0 };
    this.#options.recorder.record({
      ...{ kind: "change", causes: [], via: "watch", change, uid, resourceVersion },
      object: { resource, kind: object.kind, key },
      ...(isInitial ? { isInitial } : {}),
      ...(fields === undefined ? {} : { fields, ...(more === 0 ? {} : { moreFields: more }) }),
      ...(this.#options.recorder.keepsStates ? { state: object as unknown as Plain } : {}),
    });
  }
}

type FailedEntry = Extract<(NewEntry & { readonly kind: "write" })["answer"], { readonly kind: "failed" }>;

const changes: ReadonlyMap<string, "added" | "updated" | "deleted"> = new Map([
  ["ADDED", "added"],
  ["MODIFIED", "updated"],
  ["DELETED", "deleted"],
]);

function writeVerbOf(
  verb: RequestInfo["verb"],
): "create" | "update" | "patch" | "delete" | "deletecollection" | undefined {
  switch (verb) {
    case "create":
    case "update":
    case "patch":
    case "delete":
    case "deletecollection":
      return verb;
    default:
      return undefined;
  }
}

function answerOf({ method, url }: Request, { kind, metadata, details }: Answered) {
  if (new URL(url).searchParams.has("dryRun")) return { kind: "dry-run" } as const;
  const isGone = kind === "Status" || metadata?.deletionTimestamp === undefined;
  if (method === "DELETE" && isGone) return { kind: "removed", uid: details?.uid ?? metadata?.uid } as const;
  return { kind: "stored", resourceVersion: metadata?.resourceVersion, uid: metadata?.uid } as const;
}

function nameIn(metadata: KubeObject["metadata"] | undefined): string | undefined {
  if (metadata?.name === undefined) return undefined;
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

/** Undefined for what is no JSON: a log, or an empty line. What an API server sends has the type of the caller. */
function parsed<Value extends object>(text: string): Value | undefined {
  try {
    const value: Value | null = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
