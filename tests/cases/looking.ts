/** What all cases look at: objects, Events, lines. */
import { type Infer, keyOf, type KubeObject, type Resource } from "../../src/api/mod.ts";
import { builtin } from "../../src/api/mod.ts";
import { isNotFound } from "../../src/client/mod.ts";
import type { Program, Site } from "./site.ts";

/** Waits until an object is as `isAsWanted` says. @param key `namespace/name`, or `name` */
export async function eventually<R extends Resource>(
  site: Site,
  resource: R,
  key: string,
  isAsWanted: (live: Infer<R>) => boolean = () => true,
): Promise<Infer<R>> {
  return await site.until(`see ${resource.kind} ${key} as wanted`, async () => {
    const live = await site.client.find(resource, key);
    if (live !== undefined && isAsWanted(live)) return { kind: "found", value: live };
    return { kind: "pending", state: live === undefined ? "it does not exist" : JSON.stringify(live) };
  });
}

/** Waits until an object is gone. */
export async function gone(site: Site, resource: Resource, key: string, timeoutMs?: number): Promise<void> {
  await site.until(`see ${resource.kind} ${key} gone`, async () => {
    const live = await site.client.find(resource, key);
    return live === undefined ? { kind: "found", value: undefined } : { kind: "pending", state: JSON.stringify(live) };
  }, timeoutMs);
}

/** The Events about an object, by its UID. */
export async function eventsOf(site: Site, { metadata }: KubeObject): Promise<readonly builtin.Event[]> {
  const { items } = await site.client.listAll(builtin.Event, { namespace: metadata.namespace ?? "default" });
  return items.filter(({ regarding }) => regarding?.uid === metadata.uid);
}

/** Waits for an Event about an object. */
export async function eventuallyEvent(site: Site, object: KubeObject, reason: string): Promise<builtin.Event> {
  return await site.until(`see Event ${reason} about ${keyOf(object)}`, async () => {
    const events = await eventsOf(site, object);
    const found = events.find((event) => event.reason === reason);
    return found === undefined ? { kind: "pending", state: JSON.stringify(events) } : { kind: "found", value: found };
  });
}

/** Waits until a program has printed a line, so many times. */
export async function printed(site: Site, program: Program, line: string, times = 1): Promise<void> {
  await site.until(`see the line "${line}"`, () => {
    const count = linesOf(program).filter((one) => one === line).length;
    const state = `it printed:\n${program.stdout}and logged:\n${program.stderr}`;
    return count >= times ? { kind: "found", value: undefined } : { kind: "pending", state };
  });
}

/** What a program printed, line by line. */
export function linesOf({ stdout }: { readonly stdout: string }): readonly string[] {
  return stdout.split("\n").filter((line) => line !== "");
}

/** Deletes an object that may be gone. */
export async function removed(site: Site, resource: Resource, key: string): Promise<void> {
  try {
    await site.client.delete(resource, key, { gracePeriodSeconds: 0 });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
