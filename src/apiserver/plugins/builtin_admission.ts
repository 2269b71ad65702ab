/**
 * builtinAdmission(): the admission plugins that kube-apiserver 1.36 enables by default, joined into two: those that run before
 * the webhooks, and ResourceQuota, which runs last so that a request is not charged when another plugin rejects it.
 *
 * NodeRestriction is not one of these, but the installers of clusters enable it.
 *
 * Caveats: the plugin for the resize of claims is left out.
 */
import type { Random } from "../../async/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorizer, ObjectReader } from "../model/mod.ts";
import { certificateApproval, certificateSigning, certificateSubjects } from "./certificates.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  defaultTolerations,
  taintNewNodes,
  volumeProtection,
} from "./field_defaults.ts";
import { limitRanges } from "./limit_ranges.ts";
import { nodeRestriction } from "./node_restriction.ts";
import { namespaceSecurity, podSecurity, templateSecurity } from "./pod_security.ts";
import { priorities, priorityClasses } from "./priorities.ts";
import { resourceQuotas, type SetUsed } from "./resource_quotas.ts";
import { runtimeClasses } from "./runtime_classes.ts";
import { serviceAccounts } from "./service_accounts.ts";

/** The dependencies of the plugins. */
export interface BuiltinAdmissionParts {
  readonly objects: ObjectReader;
  readonly random: Random;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly setUsed: SetUsed;
  /** Decides about kubelets, and about those who approve and sign certificates. */
  readonly authorizer: Authorizer;
  /** The plugins that are off, by the names of kube-apiserver: `ServiceAccount`. @default none */
  readonly disabled?: readonly string[];
}

/** Returns the plugins, in the order of the real server. */
export function builtinAdmission(parts: BuiltinAdmissionParts): {
  /** Comes before `first`, and sees actions, too. */
  readonly kubelets: AdmissionPlugin;
  readonly first: AdmissionPlugin;
  readonly last: AdmissionPlugin;
} {
  const { objects, random, authorizer, disabled = [] } = parts;
  const unless = (name: string, plugin: AdmissionPlugin) => disabled.includes(name) ? [] : [plugin];
  const limits = unless("LimitRanger", limitRanges(objects));
  const protection = (finalizer: string) => unless("StorageObjectInUseProtection", volumeProtection(finalizer));
  const kubelets = unless("NodeRestriction", nodeRestriction({ objects, authorizer }));
  const plugins = new Map<string, readonly AdmissionPlugin[]>([
    ["pods", [
      ...limits,
      ...unless("ServiceAccount", serviceAccounts(objects, random)),
      ...kubelets,
      ...unless("PodSecurity", podSecurity(objects)),
      ...unless("Priority", priorities(objects)),
      ...unless("DefaultTolerationSeconds", defaultTolerations),
      ...unless("RuntimeClass", runtimeClasses(objects)),
    ]],
    ...workloads.map((collection) => [collection, unless("PodSecurity", templateSecurity(objects))] as const),
    ["namespaces", unless("PodSecurity", namespaceSecurity)],
    ["nodes", unless("TaintNodesByCondition", taintNewNodes)],
    ["persistentvolumeclaims", [
      ...limits,
      ...unless("DefaultStorageClass", defaultStorageClass(objects)),
      ...protection("kubernetes.io/pvc-protection"),
    ]],
    ["persistentvolumes", protection("kubernetes.io/pv-protection")],
    ["volumeattributesclasses.storage.k8s.io", protection("kubernetes.io/vac-protection")],
    ["certificatesigningrequests.certificates.k8s.io", [
      ...unless("CertificateApproval", certificateApproval(authorizer)),
      ...unless("CertificateSigning", certificateSigning(authorizer)),
      ...unless("CertificateSubjectRestriction", certificateSubjects),
    ]],
    ["ingresses.networking.k8s.io", unless("DefaultIngressClass", defaultIngressClass(objects))],
    ["priorityclasses.scheduling.k8s.io", unless("Priority", priorityClasses(objects))],
  ]);
  const [last = noPlugin] = unless("ResourceQuota", resourceQuotas(parts));
  return { kubelets: exceptPods(kubelets[0] ?? noPlugin), first: byCollection(plugins), last };
}

/** A plugin for all kinds that has its own place among those of Pods. */
function exceptPods(plugin: AdmissionPlugin): AdmissionPlugin {
  const admit = (request: AdmissionRequest) => request.kind.collection === "pods" ? undefined : plugin.admit?.(request);
  return { ...plugin, admit };
}

/** In the place of a plugin that is off. */
const noPlugin: AdmissionPlugin = { name: "none" };

/** Workloads: kinds with a Pod template. */
const workloads = [
  "daemonsets.apps",
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "cronjobs.batch",
  "jobs.batch",
  "podtemplates",
  "replicationcontrollers",
];

/** One plugin that calls those of a kind; most kinds have none. None of them is asynchronous. */
function byCollection(plugins: ReadonlyMap<string, readonly AdmissionPlugin[]>): AdmissionPlugin {
  const each = (request: AdmissionRequest, call: (plugin: AdmissionPlugin) => void) => {
    for (const plugin of plugins.get(request.kind.collection) ?? []) call(plugin);
  };
  return {
    name: "built in",
    admit: (request) => each(request, (plugin) => void plugin.admit?.(request)),
    validate: (request) => each(request, (plugin) => void plugin.validate?.(request)),
  };
}
