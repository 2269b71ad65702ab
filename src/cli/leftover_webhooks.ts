/**
 * What a local run of webhooks (`--webhook-host`) leaves behind when it is killed: configurations that point at a machine
 * where nobody answers, so that the cluster refuses writes. Every start of the same operator puts that right first,
 * whichever of its controllers it runs.
 *
 * In a cluster only who serves webhooks looks: a controller without them has no permission to, and none is asked for.
 */
import type { Clock } from "../async/mod.ts";
import { type Client, isForbidden } from "../client/mod.ts";
import type { Runnable } from "../manager/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { type ConfigurationTarget, configurationTargets, restoreWebhooks, type Webhook } from "../webhook/mod.ts";
import { removeLocalConfigurations } from "./local_configurations.ts";

/** Whose leftovers, and where. */
export interface Leftovers {
  /** The webhooks that may have been run locally. */
  readonly webhooks: readonly Webhook[];
  /** The operator's name. */
  readonly name: string;
  readonly client: Client;
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

const never = new AbortController().signal;

/** Looks once, at the start of a run that serves no webhooks; undefined where there can be nothing. */
export function leftoverCleaner(leftovers: Leftovers): Runnable | undefined {
  if (leftovers.webhooks.length === 0) return undefined;
  return {
    name: "leftover webhooks",
    async prepare() {
      if (await mayLook(leftovers)) await undoLocalRun(leftovers);
    },
    run: () => Promise.resolve(),
  };
}

/** Removes what a killed run made and puts back what it changed. Without the permission to, nothing of it was ours. */
export async function undoLocalRun(leftovers: Leftovers): Promise<void> {
  const { webhooks, name, clock, log, dryRun } = leftovers;
  const client = dryRun ? leftovers.client.dryRunClient() : leftovers.client;
  try {
    await removeLocalConfigurations(client, { name, signal: never });
    await restoreWebhooks(client, configurationTargets(webhooks, name), never, clock);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.info("not looked for what a killed local run may have left: it is forbidden", { reason: error.message });
  }
}

const pluralOf: Readonly<Record<ConfigurationTarget["kind"], readonly [group: string, resource: string]>> = {
  mutating: ["admissionregistration.k8s.io", "mutatingwebhookconfigurations"],
  validating: ["admissionregistration.k8s.io", "validatingwebhookconfigurations"],
  converting: ["apiextensions.k8s.io", "customresourcedefinitions"],
};

/** Asks first, so that a user without the permission is not seen to try. */
async function mayLook({ webhooks, name, client }: Leftovers): Promise<boolean> {
  const [target] = configurationTargets(webhooks, name);
  if (target === undefined) return false;
  const [group, resource] = pluralOf[target.kind];
  const spec = { resourceAttributes: { verb: "get", group, resource, name: target.name } };
  const body = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec });
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer: unknown = JSON.parse(await client.raw(path, { method: "POST", body }));
  return typeof answer === "object" && answer !== null && "status" in answer && isAllowed(answer.status);
}

function isAllowed(status: unknown): boolean {
  return typeof status === "object" && status !== null && "allowed" in status && status.allowed === true;
}
