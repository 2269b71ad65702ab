/** x */
/* MERGED manifests_plan.ts  InstallPlan: what `manifests` was asked for, thought through: names, places, and what does not go together refused. */
import { z } from "zod";
import { flagSyntax, oneOf, text, UsageError, wholeNumber } from "../flags/mod.ts";
import { resourceName } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { Webhook } from "../../webhook/mod.ts";
import { type Operator, selectControllers, type Session } from "../command/mod.ts";

/** What the manifests depend on. */
export const manifestFlags = z.object({
  namespace: text().optional().register(flagSyntax, {
    flags: "-n, --namespace <name>",
    about: "namespace that the controllers run in, instead of NAME-system",
    fromEnvironment: true,
  }),
  existingNamespace: z.boolean().default(false).register(flagSyntax, {
    flags: "--existing-namespace",
    about: "the namespace is there, and looked after by somebody else: leave it out",
  }),
  image: text().optional().register(flagSyntax, {
    flags: "--image <image>",
    about: "container image, instead of NAME:VERSION",
    example: "--image registry.example.com/team/operator:1.2.3",
    fromEnvironment: true,
  }),
  name: text().optional().register(flagSyntax, {
    flags: "--name <name>",
    about:
      "name of all objects and of the lease; by default the program's, followed by the controllers' unless it is all",
  }),
  replicas: wholeNumber(1, 100).prefault("2").register(flagSyntax, {
    flags: "--replicas <count>",
    about: "Pods; one of them works, the others stand by",
  }),
  namespaced: z.boolean().default(false).register(flagSyntax, {
    flags: "--namespaced",
    about: "work on the controllers' own namespace alone: Roles, and nothing that concerns the whole cluster",
  }),
  watchNamespace: z.array(text()).default([]).register(flagSyntax, {
    flags: "--watch-namespace <name>",
    about: "work on this namespace alone; may be given several times; as --namespaced otherwise",
    arity: "list",
  }),
  certSecret: text().optional().register(flagSyntax, {
    flags: "--cert-secret <name>",
    about: "Secret with tls.crt and tls.key for webhooks and metrics; metrics are served to the cluster only then",
  }),
  webhookFrom: z.array(text()).default([]).register(flagSyntax, {
    flags: "--webhook-from <cidr>",
    about: "address range of the API servers, the only ones that may call webhooks; may be given several times",
    arity: "list",
    example: "--webhook-from 10.0.0.0/28",
  }),
  runFlag: z.array(text()).default([]).register(flagSyntax, {
    flags: "--run-flag <flag>",
    about: "further flag of run; may be given several times",
    arity: "list",
    example: "--run-flag=--workers=4",
  }),
  includeCrds: z.boolean().default(false).register(flagSyntax, {
    flags: "--include-crds",
    about: "the custom resource definitions, too; otherwise install-crds brings them",
  }),
  output: oneOf(["yaml", "json"]).prefault("yaml").register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "yaml or json",
  }),
});

/** What the flags say. */
export type ManifestFlags = z.output<typeof manifestFlags>;

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
export function createInstallPlan(words: readonly string[], flags: ManifestFlags, session: Session): InstallPlan {
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
    watched: watchedNamespaces(flags, namespace),
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

function watchedNamespaces({ namespaced, watchNamespace }: ManifestFlags, own: string): readonly string[] {
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
