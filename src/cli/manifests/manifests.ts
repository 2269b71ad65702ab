/**
 * `manifests`: prints what an operator needs in a cluster: its account and permissions, its workload, and the Service and
 * configurations of its webhooks. It sends no requests.
 *
 * Guarantees: the same command line prints the same bytes; the permissions are those that the controllers declare, with
 * names where RBAC supports them, and never a wildcard; the Pods satisfy the `restricted` Pod Security Standard.
 */
import { createInstallPlan, type InstallPlan } from "./install_plan.ts";
import { exitCode, subcommand } from "../command/mod.ts";
import { accessObjects } from "./access.ts";
import { type ManifestFlags, manifestFlags } from "./manifest_flags.ts";
import { crdObjects, webhookObjects } from "./webhook_objects.ts";
import { namespaceObject, workloadObjects } from "./workload.ts";
import { formatObjects } from "../output/mod.ts";

/** The command. */
export const manifests = subcommand({
  description: [
    "Prints what controllers need to run in a cluster: Namespace, ServiceAccount, the permissions that they declare,",
    "Deployment, Service, webhook configurations and NetworkPolicy. It works without a cluster.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to run (default: all)" },
  examples: [
    { line: "--image registry.example.com/operator:1.2.3 | kubectl apply -f -", about: "install all controllers" },
    { line: "NAME --namespaced -n team-a", about: "one controller, with permissions in one namespace only" },
    { line: "-o json", about: "for programs" },
  ],
  flags: manifestFlags,
  run({ positionals, flags, session }) {
    session.printDocument(
      formatObjects(objectsOf(createInstallPlan(positionals, flags, session), flags), flags.output),
    );
    return Promise.resolve(exitCode.done);
  },
});

/** The objects, in the order in which they can be applied. */
function objectsOf(plan: InstallPlan, { includeCrds }: ManifestFlags): readonly object[] {
  return [
    ...namespaceObject(plan),
    ...(includeCrds ? crdObjects(plan) : []),
    ...accessObjects(plan),
    ...workloadObjects(plan),
    ...webhookObjects(plan),
  ];
}
