/**
 * awaitEstablished(): waits until the server serves newly defined kinds, and says on stderr what it waits for.
 *
 * Established alone is not enough: the server's handlers and its discovery follow within a second or so, and whoever
 * creates an object in between gets a 404.
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
 * @param timeoutMs For all of them together.
 * @throws CommandError when one is refused for good, or the time is up
 */
export async function awaitEstablished(crds: readonly Crd[], timeoutMs: number, work: CrdContext): Promise<void> {
  const { session, signal } = work;
  const { clock } = session.processEnvironment;
  const deadline = clock.monotonic() + timeoutMs;
  using progress = session.progress();
  for (const [index, crd] of crds.entries()) {
    const { name } = crd.metadata;
    for (;;) {
      const state = await stateOf(crd, work);
      if (state === undefined) break;
      if (clock.monotonic() >= deadline) throw tooLate(name, state, timeoutMs);
      progress.report(`waiting for ${name} (${index + 1} of ${crds.length}): ${state}`);
      await clock.sleep(pollMs, signal);
    }
  }
}

function tooLate(name: string, state: string, timeoutMs: number): CommandError {
  return new CommandError(`Cannot install ${name}: after ${formatDuration(timeoutMs)} ${state}`, {
    code: exitCode.failed,
    advice: `See: kubectl describe crd ${name}; or wait longer with --timeout`,
  });
}

/** Why the kind cannot be used yet, or undefined when it can. */
async function stateOf(crd: Crd, { connection, signal }: CrdContext): Promise<string | undefined> {
  const { name } = crd.metadata;
  const live = await connection.client.find(CrdResource, name, { signal });
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
