/** InstallPlan: what `manifests` was asked for, thought through: names, places, and what does not go together refused. */
import { resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { Webhook } from "../webhook/mod.ts";
import type { ManifestFlags } from "./manifests.ts";
import type { Operator } from "./operator.ts";
import { selectControllers } from "./select_controllers.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage_error.ts";

/** What is installed, where, under which names. */
export interface InstallPlan {
  readonly operator: Operator;
  readonly version: string;
  readonly controllers: readonly OperatorController[];
  readonly webhooks: readonly Webhook[];
  /** Of all objects, and of the Lease. */
  readonly name: string;
  /** Where the controllers run. */
  readonly namespace: string;
  /** Whether the namespace is a part of what is installed. */
  readonly hasNamespace: boolean;
  readonly image: string;
  readonly replicas: number;
  /** The namespaces that are worked on; empty: those that the controllers say, or else all. */
  readonly watched: readonly string[];
  /** Name of a Secret with certificates of one's own. */
  readonly certSecret?: string;
  /** Address ranges that webhooks are called from; empty: all. */
  readonly webhookFrom: readonly string[];
  /** Further flags of `run`. */
  readonly runFlags: readonly string[];
}

/** Namespaces that nobody's operator owns. */
const sharedNamespace = /^(default|kube-.*)$/;

/** Makes the plan. @throws UsageError when it cannot be */
export function planOf(words: readonly string[], flags: ManifestFlags, session: Session): InstallPlan {
  const { operator, version } = session;
  const controllers = words.length === 0 ? operator.controllers : selectControllers(operator, words);
  const { namespace = label("--namespace", `${operator.name}-system`), certSecret, webhookFrom } = flags;
  const plan: InstallPlan = {
    operator,
    version,
    controllers,
    webhooks: controllers.flatMap((controller) => controller.webhooks ?? []),
    name: label("--name", flags.name ?? nameOf(operator, controllers)),
    namespace: label("--namespace", namespace),
    hasNamespace: !flags.existingNamespace && !sharedNamespace.test(namespace),
    image: flags.image ?? `${operator.name}:${version}`,
    replicas: flags.replicas,
    watched: watchedBy(flags, namespace),
    certSecret,
    webhookFrom,
    runFlags: flags.runFlag,
  };
  assertRunFlags(flags.runFlag);
  if (plan.watched.length > 0) assertNamespaced(plan);
  return plan;
}

function nameOf(operator: Operator, controllers: readonly OperatorController[]): string {
  const isAll = controllers.length === operator.controllers.length;
  return isAll ? operator.name : [operator.name, ...controllers.map(({ name }) => name)].join("-");
}

function watchedBy({ namespaced, watchNamespace }: ManifestFlags, own: string): readonly string[] {
  if (namespaced && watchNamespace.length > 0) {
    throw new UsageError(
      "Cannot make manifests: both --namespaced and --watch-namespace are given",
      `To watch the own namespace beside others, name it: --watch-namespace ${own}`,
    );
  }
  const watched = namespaced ? [own] : watchNamespace;
  return [...new Set(watched.map((name) => label("--watch-namespace", name)))];
}

/** All objects carry it, some with an ending. */
function label(flag: string, name: string): string {
  if (/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `Cannot parse ${flag} "${name}": it is no name of at most 50 lower case letters, digits and "-"`,
  );
}

function assertRunFlags(runFlags: readonly string[]): void {
  const odd = runFlags.find((flag) => !flag.startsWith("-"));
  if (odd === undefined) return;
  throw new UsageError(`Cannot parse --run-flag "${odd}": it is no flag`, "Example: --run-flag=--workers=4");
}

/** Roles are not enough for what concerns the whole cluster. */
function assertNamespaced({ controllers, webhooks, certSecret }: InstallPlan): void {
  for (const { name, watches, permissions } of controllers) {
    const wide = [...watches, ...permissions].find(({ resource }) => resource.scope === "Cluster");
    if (wide === undefined) continue;
    throw new UsageError(
      `Cannot restrict "${name}" to namespaces: it works on ${resourceName(wide.resource)}, which are in none`,
      "Leave --namespaced and --watch-namespace out, or name other controllers",
    );
  }
  if (webhooks.length > 0) {
    throw new UsageError("Cannot restrict webhooks to namespaces: their configurations concern the whole cluster");
  }
  if (certSecret !== undefined) {
    throw new UsageError(
      "Cannot serve metrics to the cluster without rights on it: who asks must be reviewed",
      "Leave --cert-secret out",
    );
  }
}
