/** x */
/* MERGED doctor/check_lease.ts  Who holds the Lease that replicas of the operator share? Somebody else is no obstacle: one replica works, the others wait. */
import { z } from "zod";
import { type Call, CommandError } from "../command/mod.ts";
import { type Connection, waitForServer } from "../connection/mod.ts";
import {
  approximateDuration,
  type Check,
  type DoctorContext,
  failed,
  type Finding,
  ok,
  unknown,
  unknownIfForbidden,
  warning,
} from "./check.ts";
import type { DoctorFlags } from "./doctor.ts";
import { builtin, type Infer } from "../../api/mod.ts";

export async function checkCluster(
  connection: Connection,
  call: Call<DoctorFlags>,
  signal: AbortSignal,
): Promise<Check> {
  return { about: "cluster", subject: connection.server, ...await reach(connection, call, signal) };
}

async function reach(
  connection: Connection,
  { flags, session }: Call<DoctorFlags>,
  signal: AbortSignal,
): Promise<Finding> {
  const { clock, random } = session.processEnvironment;
  try {
    const version = await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
    const who = await whoAmI(connection, signal) ?? connection.who;
    return version === undefined
      ? unknown(`reached as ${who}, its version is kept secret`)
      : ok(`${version}, as ${who}`);
  } catch (error) {
    if (error instanceof CommandError) return failed(error.code, error.message, error.advice);
    throw error;
  }
}

const selfReview = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** As the server sees us; undefined where it does not say (it does since 1.28). */
async function whoAmI({ client }: Connection, signal: AbortSignal): Promise<string | undefined> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  try {
    const answer = selfReview.safeParse(JSON.parse(await client.raw(path, { method: "POST", body, signal })));
    return answer.success ? `user "${answer.data.status.userInfo.username}"` : undefined;
  } catch {
    return undefined; // only for show
  }
}

/** One check. */
export async function checkLease(context: DoctorContext): Promise<readonly Check[]> {
  const { ownNamespace, lease, connection, session, signal } = context;
  const key = `${ownNamespace}/${lease.name}`;
  const finding = await unknownIfForbidden(async () => {
    const live = await connection.client.find(builtin.Lease, key, { signal });
    return stateOf(live, session.processEnvironment.clock.now(), lease.isEnabled);
  });
  return [{ about: "lease", subject: key, ...finding }];
}

function stateOf(lease: Infer<typeof builtin.Lease> | undefined, now: number, isEnabled: boolean): Finding {
  // A Lease that somebody made by hand may have no spec at all.
  const spec: Partial<builtin.Lease["spec"]> = lease?.spec ?? {};
  const { holderIdentity: holder = "", renewTime, leaseDurationSeconds = 0 } = spec;
  if (holder === "") return ok("nobody holds it");
  const ageMs = now - Date.parse(renewTime ?? "");
  if (Number.isNaN(ageMs)) return warning(`held by ${holder}, who never renewed it`);
  const state = `held by ${holder}, renewed ${approximateDuration(ageMs)} ago`;
  // By this machine's clock, which may be another one than the holder's.
  if (ageMs > leaseDurationSeconds * 1_000) return warning(`${state}: it has run out, whoever comes takes it`);
  if (isEnabled) return ok(state);
  return warning(`${state}: replicas are at work`, "Use --leader-elect, so that only one works at a time");
}
