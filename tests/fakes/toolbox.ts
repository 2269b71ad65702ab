/** A real Toolbox with a real Client, in front of a server whose responses the test defines. */
import type { KubeObject, ObjectKey, Resource } from "../../src/api/mod.ts";
import { type Infer, splitKey } from "../../src/api/mod.ts";
import { Client, type Transport } from "../../src/client/mod.ts";
import { type ControllerDefinition, type EventNote, Toolbox, type ToolboxOptions } from "../../src/controller/mod.ts";
import { declaredTransport } from "../../src/manager/mod.ts";
import { logger } from "../../src/observe/mod.ts";
import { assert } from "../testing.ts";

export { statusResponse } from "./cluster.ts";

/** A request that the server received. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
}

/** A Toolbox, and records of what it did. */
export interface TestToolbox {
  readonly toolbox: Toolbox;
  readonly sent: readonly Sent[];
  /** The objects in the responses to writes. */
  readonly written: readonly KubeObject[];
  /** The objects that were read live. */
  readonly observed: readonly KubeObject[];
  readonly events: readonly EventNote[];
}

/** Options of {@link createTestToolbox}. */
export interface TestToolboxOptions {
  /** The key that is reconciled. @default "shop" */
  readonly key?: string;
  /** The cached objects. `find` returns the first one of the kind, whatever the key is. */
  readonly cached?: readonly KubeObject[];
  /** The server's responses, in order. */
  readonly responses?: readonly Response[];
  /** @default "greeter" */
  readonly fieldManager?: string;
  /** Failures in a row before the attempt. @default 0 */
  readonly retries?: number;
  /** @default none */
  readonly deletedDependents?: ToolboxOptions["deletedDependents"];
  /** Rejects requests that this controller did not declare, as RBAC would. @default all requests are allowed */
  readonly definition?: ControllerDefinition;
}

/** Creates a Toolbox for one attempt. A request after the last response fails the test. */
export function createTestToolbox(options: TestToolboxOptions = {}): TestToolbox {
  const { key = "shop", cached = [], responses = [], fieldManager = "greeter", definition } = options;
  const sent: Sent[] = [];
  const written: KubeObject[] = [];
  const observed: KubeObject[] = [];
  const events: EventNote[] = [];
  const sendNextResponse: Transport = async (request) => {
    const text = await request.text();
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    sent.push({ method: request.method, url: new URL(request.url), body });
    const response = responses[sent.length - 1];
    assert(response !== undefined, `unexpected request: ${request.method} ${request.url}`);
    return response;
  };
  const transport = definition === undefined ? sendNextResponse : declaredTransport(sendNextResponse, definition);
  const ofKind = (resource: Resource) => cached.filter((object) => object.kind === resource.kind);
  const caches = {
    find: <R extends Resource>(resource: R, _key: ObjectKey) => ofKind(resource)[0] as Infer<R> | undefined,
    list: <R extends Resource>(resource: R) => ofKind(resource) as readonly unknown[] as readonly Infer<R>[],
  };
  const toolbox = new Toolbox({
    request: { key: key as ObjectKey, ...splitKey(key) },
    client: new Client(transport).withWriteObserver({
      onStored: (_resource, object) => void written.push(object),
      onRemoved: () => {},
      onUnknown: () => Promise.resolve(),
    }),
    caches,
    events: { record: (note) => void events.push(note) },
    signal: new AbortController().signal,
    log: logger("test"),
    fieldManager,
    deletedDependents: options.deletedDependents,
    causes: [],
    retries: options.retries ?? 0,
    observeLive: (_resource, object) => void observed.push(object),
    onRepair: () => {},
  });
  return { toolbox, sent, written, observed, events };
}
