/** What all cases wait for: objects, Events, lines of output. */
import { type Infer, keyOf, type KubeObject, type Resource } from "../../src/api/mod.ts";
import { builtin } from "../../src/api/mod.ts";
import { isNotFound } from "../../src/client/mod.ts";
import type { CaseEnvironment, Program } from "./environment.ts";

/** Waits until an object satisfies a condition. @param key `namespace/name`, or `name` */
export async function eventually<R extends Resource>(
  env: CaseEnvironment,
  resource: R,
  key: string,
  isExpected: (live: Infer<R>) => boolean = () => true,
): Promise<Infer<R>> {
  return await env.until(`see ${resource.kind} ${key} in the expected state`, async () => {
    const live = await env.client.find(resource, key);
    if (live !== undefined && isExpected(live)) return { kind: "found", value: live };
    return { kind: "pending", state: live === undefined ? "it does not exist" : JSON.stringify(live) };
  });
}

/** Waits until an object is deleted. */
export async function gone(env: CaseEnvironment, resource: Resource, key: string, timeoutMs?: number): Promise<void> {
  await env.until(`see ${resource.kind} ${key} deleted`, async () => {
    const live = await env.client.find(resource, key);
    return live === undefined ? { kind: "found", value: undefined } : { kind: "pending", state: JSON.stringify(live) };
  }, timeoutMs);
}

/** Returns the program's Events about an object, by its UID. */
export async function eventsOf(env: CaseEnvironment, { metadata }: KubeObject): Promise<readonly builtin.Event[]> {
  const events = await eventsIn(env, metadata.namespace ?? "default");
  return events.filter(({ regarding }) => regarding?.uid === metadata.uid);
}

/**
 * Returns the program's Events in a namespace. The cluster's own controllers also report about the objects of a case: the
 * one that repairs the addresses of Services does so when it happens to run, so no case may count their Events.
 */
export async function eventsIn({ client }: CaseEnvironment, namespace: string): Promise<readonly builtin.Event[]> {
  const { items } = await client.listAll(builtin.Event, { namespace });
  return items.filter(({ reportingController }) => reporters.test(reportingController ?? ""));
}

const reporters = /^(controller(\/\w+)?|ecsbinding-controller)$/;

/** Waits for an Event about an object. */
export async function eventuallyEvent(
  env: CaseEnvironment,
  object: KubeObject,
  reason: string,
): Promise<builtin.Event> {
  return await env.until(`see Event ${reason} about ${keyOf(object)}`, async () => {
    const events = await eventsOf(env, object);
    const found = events.find((event) => event.reason === reason);
    return found === undefined ? { kind: "pending", state: JSON.stringify(events) } : { kind: "found", value: found };
  });
}

/** Waits until a program has printed a line at least `times` times. */
export async function printed(env: CaseEnvironment, program: Program, line: string, times = 1): Promise<void> {
  await env.until(`see the line "${line}"`, () => {
    const count = linesOf(program).filter((one) => one === line).length;
    const state = `it printed:\n${program.stdout}and logged:\n${program.stderr}`;
    return count >= times ? { kind: "found", value: undefined } : { kind: "pending", state };
  });
}

/** Returns the lines that a program printed. */
export function linesOf({ stdout }: { readonly stdout: string }): readonly string[] {
  return stdout.split("\n").filter((line) => line !== "");
}

/** Deletes an object, if it exists. */
export async function removed(env: CaseEnvironment, resource: Resource, key: string): Promise<void> {
  try {
    await env.client.delete(resource, key, { gracePeriodSeconds: 0 });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
