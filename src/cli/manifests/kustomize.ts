/** The files of `manifests -o kustomize`: a base with one file for each object, and an example of an overlay. */
import type { InstallPlan } from "./install_plan.ts";
import { fileNameOf, type InstalledObject } from "./objects.ts";
import { generatedComment, type PackageFile } from "./output_folder.ts";
import { formatObjects, formatValue } from "../output/mod.ts";
import { imageParts } from "./image_parts.ts";

const header = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization" } as const;

/** The folders in which all files are generated. Overlays belong to the user. */
export const kustomizeFolders = ["base"] as const;

/** Returns the files. */
export function kustomizeFiles(plan: InstallPlan, objects: readonly InstalledObject[]): readonly PackageFile[] {
  const named = objects.map((object) => [fileNameOf(object, plan.namespace), object] as const);
  const base = { ...header, resources: named.map(([name]) => name) };
  return [
    { path: "base/kustomization.yaml", text: generatedComment + formatValue(base, "yaml") },
    ...named.map(([name, object]) => ({
      path: `base/${name}`,
      text: generatedComment + formatObjects([object], "yaml"),
    })),
    { path: "overlays/example/kustomization.yaml", text: overlay(plan), isForUser: true },
  ];
}

/** What clusters differ in most often. */
function overlay({ name, image, replicas }: InstallPlan): string {
  const { repository, tag = "latest", digest } = imageParts(image);
  const memory = [{
    op: "replace",
    path: "/spec/template/spec/containers/0/resources/limits/memory",
    value: "1Gi",
  }];
  const settings = {
    ...header,
    resources: ["../../base"],
    // A digest names the image of one release, which the base already has.
    ...digest === undefined ? { images: [{ name: repository, newTag: tag }] } : {},
    replicas: [{ name, count: replicas }],
    patches: [{ target: { kind: "Deployment", name }, patch: formatValue(memory, "yaml") }],
  };
  return [
    "# An example of an overlay: copy it for each of your clusters, and edit it; this command never changes it again.",
    "# Another namespace needs another base, because names without a namespace contain it: see --namespace of manifests.",
    formatValue(settings, "yaml"),
  ].join("\n");
}
