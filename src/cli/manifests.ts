/**
 * `manifests`: all that an operator's namespace needs to run controllers there: who they are, what they may do, how they
 * run, and how the API server reaches their webhooks. Nothing is asked of a cluster, and nothing is sent to one.
 *
 * Guarantees: the same command line gives the same bytes; permissions are those that the controllers declare, by name
 * where RBAC can hold to names, and never a wildcard; the Pods pass the `restricted` Pod Security Standard.
 */
import { z } from "zod";
import { exitCode } from "./exit_code.ts";
import { flagSyntax } from "./flag.ts";
import { oneOf, text, wholeNumber } from "./flag_values.ts";
import { accessObjects } from "./manifests_access.ts";
import { type InstallPlan, planOf } from "./manifests_plan.ts";
import { crdObjects, webhookObjects } from "./manifests_webhooks.ts";
import { namespaceObject, workloadObjects } from "./manifests_workload.ts";
import { printObjectList } from "./print_objects.ts";
import { subcommand } from "./subcommand.ts";

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

/** The command. */
export const manifests = subcommand({
  description: [
    "Prints what controllers need to run in a cluster: Namespace, ServiceAccount, the permissions that they declare,",
    "Deployment, Service and webhook configurations, NetworkPolicy. It asks no cluster.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers to run (default: all)" },
  examples: [
    { line: "--image registry.example.com/operator:1.2.3 | kubectl apply -f -", about: "install all controllers" },
    { line: "NAME --namespaced -n team-a", about: "one controller, for one namespace and without rights elsewhere" },
    { line: "-o json", about: "for programs" },
  ],
  flags: manifestFlags,
  run({ words, flags, session }) {
    printObjectList(objectsOf(planOf(words, flags, session), flags), flags.output, session);
    return Promise.resolve(exitCode.done);
  },
});

/** In the order in which they can be applied. */
function objectsOf(plan: InstallPlan, { includeCrds }: ManifestFlags): readonly object[] {
  return [
    ...namespaceObject(plan),
    ...(includeCrds ? crdObjects(plan) : []),
    ...accessObjects(plan),
    ...workloadObjects(plan),
    ...webhookObjects(plan),
  ];
}
