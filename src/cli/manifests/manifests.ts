/**
 * `manifests`: prints what an operator needs in a cluster: its account and permissions, its workload, and the Service and
 * configurations of its webhooks; or writes them as a package for kustomize, Helm or the Operator Lifecycle Manager. It sends
 * no requests.
 *
 * Guarantees: the same command line prints the same bytes; all formats contain the same objects; the permissions are those that
 * the controllers declare, with names where RBAC supports them, and never a wildcard; the Pods satisfy the `restricted` Pod
 * Security Standard.
 */
import { createInstallPlan, type PlanInput } from "./install_plan.ts";
import { manifestFlags } from "./manifest_flags.ts";
import { readRunConfig } from "./run_config.ts";
import { exitCode, subcommand } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { formatObjects } from "../output/mod.ts";
import { helmFiles, helmFolders, releaseNamespace } from "./helm.ts";
import { kustomizeFiles, kustomizeFolders } from "./kustomize.ts";
import { installedObjects } from "./objects.ts";
import { olmFiles, olmFolders } from "./olm.ts";
import { uncheckedByPolicies } from "./webhook_objects.ts";
import { generatedComment, type PackageFile, writePackage } from "./output_folder.ts";

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
    { line: "-o helm --output-dir chart", about: "a Helm chart" },
    { line: "--admission-policies", about: "the API server itself checks the rules of webhooks" },
    { line: "-o json", about: "for programs" },
  ],
  flags: manifestFlags,
  async run(call) {
    const { positionals, flags, session } = call;
    const { output, outputDir } = flags;
    const runConfig = flags.runConfig === undefined ? undefined : await readRunConfig(flags.runConfig, session);
    const input: PlanInput = { positionals, flags, session, runConfig };
    for (const text of uncheckedByPolicies(createInstallPlan(input))) session.info(text);
    if (outputDir === undefined) {
      if (output === "yaml" || output === "json") session.printDocument(printed(input, output));
      else throw new UsageError(`Cannot print ${output}: it is several files`, "Add --output-dir DIR");
      return exitCode.done;
    }
    const { files, owned } = packageOf(input);
    const written = await writePackage(outputDir, files, owned);
    session.info(`wrote ${written.length} files into ${outputDir}`);
    return exitCode.done;
  },
});

function printed(input: PlanInput, format: "yaml" | "json"): string {
  return formatObjects(installedObjects(createInstallPlan(input), input.flags), format);
}

/** The files of a format, and the folders that contain nothing else. */
interface Package {
  readonly files: readonly PackageFile[];
  readonly owned: readonly string[];
}

function packageOf(input: PlanInput): Package {
  const { flags } = input;
  const plan = () => createInstallPlan(input);
  switch (flags.output) {
    case "yaml":
      return { files: [{ path: "manifests.yaml", text: generatedComment + printed(input, "yaml") }], owned: [] };
    case "json":
      throw new UsageError(
        "Cannot write files as json: JSON has no comment that marks them as generated",
        "Use -o yaml",
      );
    case "kustomize":
      return { files: kustomizeFiles(plan(), installedObjects(plan(), flags)), owned: kustomizeFolders };
    case "helm": {
      if (flags.createNamespace) {
        const advice = "Leave it out, and use: helm install --create-namespace";
        throw new UsageError(
          "Cannot make a chart with --create-namespace: Helm creates the namespace of a release",
          advice,
        );
      }
      const released = { ...input, flags: { ...flags, namespace: releaseNamespace } };
      return { files: helmFiles(createInstallPlan(released)), owned: helmFolders };
    }
    case "olm":
      return { files: olmFiles(plan()), owned: olmFolders };
    default:
      return flags.output satisfies never;
  }
}
