/**
 * awaitEstablished(): waits until the server serves newly defined kinds, and reports on stderr what it waits for.
 *
 * The condition Established alone is not enough: the handlers and the discovery document follow about a second later, and a
 * client that creates an object before gets a 404.
 */
import { type Crd, CrdResource } from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import { isServed } from "../connection/mod.ts";
import type { CrdContext } from "./crd_context.ts";

const pollMs = 200;

/**
 * Waits for all of `crds`.
 *
 * @param timeoutMs For all definitions together.
 * @throws CommandError when the names of a definition are taken, or after the timeout
 */
export async function awaitEstablished(crds: readonly Crd[], timeoutMs: number, context: CrdContext): Promise<void> {
  const { session, signal } = context;
  const { clock } = session.processEnvironment;
  const deadline = clock.monotonic() + timeoutMs;
  using progress = session.progress();
  for (const [index, crd] of crds.entries()) {
    const { name } = crd.metadata;
    for (;;) {
      const state = await stateOf(crd, context);
      if (state === undefined) break;
      if (clock.monotonic() >= deadline) throw timeoutError(name, state, timeoutMs);
      progress.report(`waiting for ${name} (${index + 1} of ${crds.length}): ${state}`);
      await clock.sleep(pollMs, signal);
    }
  }
}

function timeoutError(name: string, state: string, timeoutMs: number): CommandError {
  return new CommandError(`Cannot install ${name}: after ${formatDuration(timeoutMs)} ${state}`, {
    code: exitCode.failed,
    advice: `See: kubectl describe crd ${name}; or wait longer with --timeout`,
  });
}

/** Returns why the kind cannot be used yet; undefined when it can. */
async function stateOf(crd: Crd, { connection, signal }: CrdContext): Promise<string | undefined> {
  const { name } = crd.metadata;
  const live = await connection.client.find(CrdResource, name, { signal });
  if (live === undefined) return "it was deleted again";
  const conditions = live.status?.conditions ?? [];
  const rejected = conditions.find(({ type, status }) => type === "NamesAccepted" && status === "False");
  if (rejected !== undefined) {
    throw new CommandError(
      `Cannot install ${name}: its names are taken: ${rejected.message ?? rejected.reason ?? ""}`,
      {
        code: exitCode.failed,
        advice: "Delete the other definition, or give this kind other names",
      },
    );
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
