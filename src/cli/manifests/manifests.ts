/**
 * `manifests`: all that an operator's namespace needs to run controllers there: who they are, what they may do, how they
 * run, and how the API server reaches their webhooks. Nothing is asked of a cluster, and nothing is sent to one.
 *
 * Guarantees: the same command line gives the same bytes; permissions are those that the controllers declare, by name
 * where RBAC can hold to names, and never a wildcard; the Pods pass the `restricted` Pod Security Standard.
 */
import { createInstallPlan, type InstallPlan, type ManifestFlags, manifestFlags } from "./install_plan.ts";
import { exitCode, subcommand } from "../command/mod.ts";
import { accessObjects } from "./access.ts";
import { crdObjects, namespaceObject, webhookObjects, workloadObjects } from "./workload.ts";
import { printObjectList } from "../output/mod.ts";

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
    printObjectList(objectsOf(createInstallPlan(words, flags, session), flags), flags.output, session);
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
