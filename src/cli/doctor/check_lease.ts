/** Who holds the Lease that replicas of the operator share? Somebody else is no obstacle: one replica works, the others wait. */
import { builtin, type Infer } from "../../api/mod.ts";
import { type Check, type Finding, ok, warning } from "./check.ts";
import { type Examination, looking, roughly } from "./examination.ts";

/** One check. */
export async function checkLease(examination: Examination): Promise<readonly Check[]> {
  const { ownNamespace, lease, connection, session, signal } = examination;
  const key = `${ownNamespace}/${lease.name}`;
  const finding = await looking(async () => {
    const live = await connection.client.find(builtin.Lease, key, { signal });
    return stateOf(live, session.surroundings.clock.now(), lease.isWanted);
  });
  return [{ about: "lease", subject: key, ...finding }];
}

function stateOf(lease: Infer<typeof builtin.Lease> | undefined, now: number, isWanted: boolean): Finding {
  // A Lease that somebody made by hand may have no spec at all.
  const spec: Partial<builtin.Lease["spec"]> = lease?.spec ?? {};
  const { holderIdentity: holder = "", renewTime, leaseDurationSeconds = 0 } = spec;
  if (holder === "") return ok("nobody holds it");
  const ageMs = now - Date.parse(renewTime ?? "");
  if (Number.isNaN(ageMs)) return warning(`held by ${holder}, who never renewed it`);
  const state = `held by ${holder}, renewed ${roughly(ageMs)} ago`;
  // By this machine's clock, which may be another one than the holder's.
  if (ageMs > leaseDurationSeconds * 1_000) return warning(`${state}: it has run out, whoever comes takes it`);
  if (isWanted) return ok(state);
  return warning(`${state}: replicas are at work`, "Use --leader-elect, so that only one works at a time");
}
