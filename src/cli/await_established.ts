/**
 * awaitEstablished(): waits until the server serves newly defined kinds, and says on stderr what it waits for.
 *
 * Established alone is not enough: the server's handlers and its discovery follow within a second or so, and whoever
 * creates an object in between gets a 404.
 */
import type { Crd } from "../schema/mod.ts";
import { CommandError } from "./command_error.ts";
import type { Connection } from "./connection.ts";
import { CustomResourceDefinition } from "./custom_resources.ts";
import { formatDuration } from "./duration.ts";
import { exitCode } from "./exit_code.ts";
import { isServed } from "./is_served.ts";
import type { Session } from "./session.ts";

/** Options of {@link awaitEstablished}. */
export interface AwaitEstablishedOptions {
  readonly session: Session;
  /** Milliseconds for all of them together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const pollMs = 200;
/** Waits that are shorter than this are not worth a word. */
const quietMs = 1_000;

/** Waits for all of `crds`. @throws CommandError when one is refused for good, or the time is up */
export async function awaitEstablished(
  connection: Connection,
  crds: readonly Crd[],
  options: AwaitEstablishedOptions,
): Promise<void> {
  const { clock } = options.session.surroundings;
  const startedAt = clock.monotonic();
  for (const [index, crd] of crds.entries()) {
    const progress = `${crd.metadata.name} (${index + 1} of ${crds.length})`;
    await awaitOne(connection, crd, { ...options, startedAt, progress });
  }
}

async function awaitOne(
  connection: Connection,
  crd: Crd,
  options: AwaitEstablishedOptions & { readonly startedAt: number; readonly progress: string },
): Promise<void> {
  const { session, timeoutMs, signal, startedAt, progress } = options;
  const { clock } = session.surroundings;
  const { name } = crd.metadata;
  for (let saidAt = clock.monotonic();;) {
    const state = await stateOf(connection, crd, signal);
    if (state === undefined) return;
    const now = clock.monotonic();
    if (now - startedAt >= timeoutMs) {
      throw new CommandError(`Cannot install ${name}: after ${formatDuration(timeoutMs)} ${state}`, {
        code: exitCode.failed,
        advice: `See: kubectl describe crd ${name}; or wait longer with --timeout`,
      });
    }
    if (now - saidAt >= quietMs) {
      session.say(`waiting for ${progress}: ${state}`);
      saidAt = now;
    }
    await clock.sleep(pollMs, signal);
  }
}

/** Why the kind cannot be used yet, or undefined when it can. */
async function stateOf(connection: Connection, crd: Crd, signal: AbortSignal): Promise<string | undefined> {
  const { name } = crd.metadata;
  const live = await connection.client.find(CustomResourceDefinition, name, { signal });
  if (live === undefined) return "it is gone again";
  const conditions = live.status?.conditions ?? [];
  const refused = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
  if (refused !== undefined) {
    throw new CommandError(`Cannot install ${name}: its names are taken: ${refused.message ?? refused.reason ?? ""}`, {
      code: exitCode.failed,
      advice: "Remove the other definition, or give this kind other names",
    });
  }
  if (!conditions.some(({ type, status }) => type === "Established" && status === "True")) {
    return "it is not established";
  }
  const { group, names: { plural }, versions } = crd.spec;
  for (const version of versions.filter(({ served }) => served)) {
    if (!(await isServed(connection, { group, version: version.name, plural }, signal))) {
      return `${group}/${version.name} is not served`;
    }
  }
  return undefined;
}
