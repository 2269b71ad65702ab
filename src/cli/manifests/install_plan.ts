/**
 * InstallPlan: what `manifests` prints, derived from its flags: names, namespaces and permissions. Flags that contradict each
 * other are rejected here.
 */
import { z } from "zod";
import {
  addressRange,
  commandLineOnly,
  flag,
  namespaceName,
  objectName,
  oneOf,
  text,
  UsageError,
  wholeNumber,
} from "../flags/mod.ts";
import { namespaceProblem, resourceName } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { Webhook } from "../../webhook/mod.ts";
import { crdsOf, type Operator, selectNamedOrAll, type Session } from "../command/mod.ts";

/** The flags of `manifests`. */
export const manifestFlags = z.object({
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "run all controllers, as without names",
  }),
  namespace: flag(namespaceName().optional(), {
    flags: "-n, --namespace <name>",
    about: "namespace that the controllers run in (default: NAME-system)",
    completes: "namespace",
  }),
  existingNamespace: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--existing-namespace",
    about: "do not print the namespace: it exists already",
  }),
  image: flag(text().optional(), {
    flags: "--image <image>",
    about: "container image (default: NAME:VERSION)",
    example: "--image registry.example.com/team/operator:1.2.3",
  }),
  name: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--name <name>",
    about: "name of all objects and of the lease (default: the program's, and the names of selected controllers)",
  }),
  replicas: flag(wholeNumber(1, 100).prefault("2"), {
    ...commandLineOnly,
    flags: "--replicas <count>",
    about: "number of Pods; one of them reconciles, the others wait",
  }),
  namespaced: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--namespaced",
    about: "watch only the namespace that the controllers run in: Roles instead of ClusterRoles",
  }),
  watchNamespace: flag(z.array(namespaceName()).default([]), {
    ...commandLineOnly,
    flags: "--watch-namespace <name>",
    about: "watch only this namespace; can be repeated; Roles instead of ClusterRoles",
    arity: "list",
    completes: "namespace",
  }),
  certSecret: flag(objectName().optional(), {
    ...commandLineOnly,
    flags: "--cert-secret <name>",
    about: "Secret with tls.crt and tls.key for webhooks and metrics; needed to serve metrics to the cluster",
  }),
  webhookFrom: flag(z.array(addressRange()).default([]), {
    ...commandLineOnly,
    flags: "--webhook-from <cidr>",
    about: "address range that may call the webhooks, that of the API servers; can be repeated",
    arity: "list",
    example: "--webhook-from 10.0.0.0/28",
  }),
  runFlag: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--run-flag <flag>",
    about: "further flag of run; can be repeated",
    arity: "list",
    example: "--run-flag=--workers=4",
  }),
  includeCrds: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--include-crds",
    about: "also print the custom resource definitions, instead of installing them with install-crds",
  }),
  output: flag(oneOf(["yaml", "json"]).prefault("yaml"), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "yaml or json",
  }),
});

/** The values of the flags. */
export type ManifestFlags = z.output<typeof manifestFlags>;

/** What to install, where, and under which names. */
export interface InstallPlan {
  readonly operator: Operator;
  readonly version: string;
  readonly controllers: readonly OperatorController[];
  readonly webhooks: readonly Webhook[];
  /** The name of all objects and of the Lease. */
  readonly name: string;
  /** The namespace that the controllers run in. */
  readonly namespace: string;
  /** True when the manifests contain the namespace. */
  readonly hasNamespace: boolean;
  readonly image: string;
  readonly replicas: number;
  /** The watched namespaces; empty: those of the controllers' options, else all. */
  readonly watched: readonly string[];
  /** Name of the Secret with your own certificates. */
  readonly certSecret?: string;
  /** Address ranges that may call webhooks; empty: all. */
  readonly webhookFrom: readonly string[];
  /** Further flags of `run`. */
  readonly runFlags: readonly string[];
}

/** Namespaces that never belong to one operator. */
const sharedNamespace = /^(default|kube-.*)$/;

/** Creates the plan. @throws UsageError when the flags contradict each other */
export function createInstallPlan(words: readonly string[], flags: ManifestFlags, session: Session): InstallPlan {
  const { operator, version } = session;
  const all = flags.all || words.length === 0;
  const controllers = selectNamedOrAll({ operator, names: words, all, action: "run" });
  const { namespace = namespaceOf(operator), certSecret, webhookFrom } = flags;
  const plan: InstallPlan = {
    operator,
    version,
    controllers,
    webhooks: controllers.flatMap((controller) => controller.webhooks ?? []),
    name: checkedName(flags.name ?? nameOf(operator, controllers)),
    namespace,
    hasNamespace: !flags.existingNamespace && !sharedNamespace.test(namespace),
    image: flags.image ?? `${operator.name}:${version}`,
    replicas: flags.replicas,
    watched: watchedNamespaces(flags, namespace),
    certSecret,
    webhookFrom,
    runFlags: flags.runFlag,
  };
  assertRunFlags(flags.runFlag);
  crdsOf(controllers); // a kind that nothing converts is refused
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
      `To watch the namespace of the controllers and others, add --watch-namespace ${own}`,
    );
  }
  const watched = namespaced ? [own] : watchNamespace;
  return [...new Set(watched)];
}

/** The default namespace. The name of an operator is not limited, that of a namespace is. */
function namespaceOf({ name }: Operator): string {
  const namespace = `${name}-system`;
  const problem = namespaceProblem(namespace);
  if (problem === undefined) return namespace;
  throw new UsageError(`Cannot use the namespace "${namespace}": ${problem}`, "Choose another one with --namespace");
}

/** Checks a name. Most objects are called by it, some with a suffix. */
function checkedName(name: string): string {
  if (/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `Cannot parse --name "${name}": it is not a name of at most 50 lower case letters, digits and "-"`,
  );
}

function assertRunFlags(runFlags: readonly string[]): void {
  const odd = runFlags.find((flag) => !flag.startsWith("-"));
  if (odd === undefined) return;
  throw new UsageError(`Cannot parse --run-flag "${odd}": it is not a flag`, "Example: --run-flag=--workers=4");
}

/** Rejects what needs permissions on the whole cluster. */
function assertNamespaced({ controllers, webhooks, certSecret }: InstallPlan): void {
  for (const { name, watches, permissions } of controllers) {
    const clusterScoped = [...watches, ...permissions].find(({ resource }) => resource.scope === "Cluster");
    if (clusterScoped === undefined) continue;
    throw new UsageError(
      `Cannot restrict "${name}" to namespaces: it uses ${
        resourceName(clusterScoped.resource)
      }, which have no namespace`,
      "Leave --namespaced and --watch-namespace out, or name other controllers",
    );
  }
  if (webhooks.length > 0) {
    throw new UsageError("Cannot restrict webhooks to namespaces: their configurations apply to the whole cluster");
  }
  if (certSecret !== undefined) {
    throw new UsageError(
      "Cannot serve metrics to the cluster with Roles only: the review of requests needs a ClusterRole",
      "Leave --cert-secret out",
    );
  }
}
