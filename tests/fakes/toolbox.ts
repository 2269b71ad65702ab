/** A real Toolbox over a real Client, in front of a server that answers as the test says: fakes at the wire only. */
import type { KubeObject, ObjectKey, Resource } from "../../src/api/mod.ts";
import { type Infer, splitKey } from "../../src/api/mod.ts";
import { Client, type Transport } from "../../src/client/mod.ts";
import { type ControllerDefinition, type EventNote, Toolbox, type ToolboxParts } from "../../src/controller/mod.ts";
import { declaredTransport } from "../../src/manager/mod.ts";
import { logger } from "../../src/observe/mod.ts";
import { assert } from "../testing.ts";

/** A request as the server saw it. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
}

/** A Toolbox and what it did. */
export interface ToolboxBench {
  readonly toolbox: Toolbox;
  readonly sent: readonly Sent[];
  readonly wrote: readonly KubeObject[];
  readonly events: readonly EventNote[];
}

/** What is in the cache, and the server's answers in order. */
export interface ToolboxBenchOptions {
  /** The key that is reconciled. @default "shop" */
  readonly key?: string;
  /** Found for every key of its kind. */
  readonly cached?: readonly KubeObject[];
  readonly answers?: readonly Response[];
  /** @default "greeter" */
  readonly fieldManager?: string;
  /** What the Toolbox knows of children that went. @default nothing */
  readonly lost?: ToolboxParts["lost"];
  /** Whose declarations the Toolbox is held to, as RBAC would. @default nobody's */
  readonly definition?: ControllerDefinition;
}

/** Makes a Toolbox for one attempt. A request beyond the last answer fails the test. */
export function toolboxBench(options: ToolboxBenchOptions = {}): ToolboxBench {
  const { key = "shop", cached = [], answers = [], fieldManager = "greeter", definition, lost } = options;
  const sent: Sent[] = [];
  const wrote: KubeObject[] = [];
  const events: EventNote[] = [];
  const answerNext: Transport = async (request) => {
    const text = await request.text();
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    sent.push({ method: request.method, url: new URL(request.url), body });
    const answer = answers[sent.length - 1];
    assert(answer !== undefined, `a request too many: ${request.method} ${request.url}`);
    return answer;
  };
  const client = new Client(definition === undefined ? answerNext : declaredTransport(answerNext, definition));
  const ofKind = (resource: Resource) => cached.filter((object) => object.kind === resource.kind);
  const caches = {
    find: <R extends Resource>(resource: R, _key: ObjectKey) => ofKind(resource)[0] as Infer<R> | undefined,
    list: <R extends Resource>(resource: R) => ofKind(resource) as readonly unknown[] as readonly Infer<R>[],
  };
  const toolbox = new Toolbox({
    request: { key: key as ObjectKey, ...splitKey(key) },
    client,
    caches,
    events: { record: (note) => void events.push(note) },
    signal: new AbortController().signal,
    log: logger("test"),
    fieldManager,
    lost,
    causes: [],
    retries: 0,
    wrote: (_resource, object) => void wrote.push(object),
    repaired: () => {},
  });
  return { toolbox, sent, wrote, events };
}

/** The server's refusal. */
export function refusal(code: number, reason: string): Response {
  return Response.json({ kind: "Status", status: "Failure", code, reason, message: reason }, { status: code });
}
