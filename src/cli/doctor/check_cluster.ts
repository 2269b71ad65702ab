/** The checks of the cluster itself: can it be reached, as which user, and who holds the Lease of the operator? */
import { z } from "zod";
import { builtin, type Infer } from "../../api/mod.ts";
import { printable } from "../../observe/mod.ts";
import { parseBounded } from "../../schema/mod.ts";
import { CommandError } from "../command/mod.ts";
import { type Connection, waitForServer } from "../connection/mod.ts";
import type { CrdContext } from "../crds/mod.ts";
import { approximateDuration } from "../output/mod.ts";
import {
  type Check,
  type DoctorContext,
  failed,
  type Finding,
  ok,
  unknown,
  unknownIfForbidden,
  warning,
} from "./check.ts";

/** Checks the connection and the credentials. */
export async function checkCluster(context: CrdContext, timeoutMs: number): Promise<Check> {
  return { about: "cluster", subject: context.connection.server, ...await checkConnection(context, timeoutMs) };
}

async function checkConnection({ connection, session, signal }: CrdContext, timeoutMs: number): Promise<Finding> {
  const { clock, random } = session.processEnvironment;
  try {
    const version = await waitForServer(connection, { timeoutMs, clock, random, signal });
    const user = await findUser(connection, signal) ?? connection.userText;
    return version === undefined
      ? unknown(`reached as ${user}; its version is not readable`)
      : ok(`${version}, as ${user}`);
  } catch (error) {
    if (error instanceof CommandError) return failed(error.code, error.message, error.advice);
    throw error;
  }
}

const selfReview = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** Returns the user as the server knows it; undefined on servers before 1.28. */
async function findUser({ client }: Connection, signal: AbortSignal): Promise<string | undefined> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  try {
    const response = parseBounded(selfReview, JSON.parse(await client.raw(path, { method: "POST", body, signal })));
    return `user "${response.status.userInfo.username}"`;
  } catch {
    return undefined; // the name is only printed
  }
}

/** Checks the Lease. Another holder is not a failure: one replica reconciles, the others wait. */
export async function checkLease(context: DoctorContext): Promise<readonly Check[]> {
  const { ownNamespace, lease, connection, session, signal } = context;
  const key = `${ownNamespace}/${lease.name}`;
  const finding = await unknownIfForbidden(async () => {
    const live = await connection.client.find(builtin.Lease, key, { signal });
    return leaseFinding(live, session.processEnvironment.clock.now(), lease.isUsed);
  });
  return [{ about: "lease", subject: key, ...finding }];
}

function leaseFinding(lease: Infer<typeof builtin.Lease> | undefined, now: number, isUsed: boolean): Finding {
  // A Lease that a user created may have no spec.
  const spec: Partial<builtin.Lease["spec"]> = lease?.spec ?? {};
  const { holderIdentity = "", renewTime, leaseDurationSeconds = 0 } = spec;
  if (holderIdentity === "") return ok("no holder");
  const holder = printable(holderIdentity, 253);
  const ageMs = Math.max(0, now - Date.parse(renewTime ?? ""));
  if (Number.isNaN(ageMs)) return warning(`held by ${holder}, which never renewed it`);
  const state = `held by ${holder}, renewed ${approximateDuration(ageMs)} ago`;
  // Caveats: by this machine's clock, which can differ from the holder's.
  if (ageMs > leaseDurationSeconds * 1_000) return warning(`${state}: it has expired, the next replica takes it`);
  if (isUsed) return ok(state);
  return warning(`${state}: replicas are running`, "Use --leader-elect, so that only one replica reconciles at a time");
}
