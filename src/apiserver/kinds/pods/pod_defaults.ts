/**
 * Defaults of Pods and of everything in their templates: containers, probes, volumes. Source: pkg/apis/core/v1/defaults.go of
 * Kubernetes 1.36. A template gets the defaults of its types in every workload; only a Pod itself gets those of the type Pod.
 */
import { type Draft, put } from "../../model/mod.ts";
import type { DefaultsByType } from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  has,
  numberAt,
  setIfAbsent,
  setIfEmpty,
  setIfZero,
  textAt,
} from "../types/mod.ts";
import { aggregateResources } from "./pod_containers.ts";

/** The default mode of files in volumes. */
const fileMode = 0o644;

function setContainerDefaults(draft: Draft): void {
  setIfEmpty(draft, "imagePullPolicy", imageTag(textAt(draft, "image")) === "latest" ? "Always" : "IfNotPresent");
  setIfEmpty(draft, "terminationMessagePath", "/dev/termination-log");
  setIfEmpty(draft, "terminationMessagePolicy", "File");
}

function setPodSpecDefaults(draft: Draft): void {
  setIfEmpty(draft, "dnsPolicy", "ClusterFirst");
  setIfEmpty(draft, "restartPolicy", "Always");
  setIfAbsent(draft, "securityContext", {});
  setIfAbsent(draft, "terminationGracePeriodSeconds", 30);
  setIfEmpty(draft, "schedulerName", "default-scheduler");
  // Both names of the field are written, whichever the client used.
  const account = textAt(draft, "serviceAccountName") || textAt(draft, "serviceAccount");
  if (account === "") return;
  draft["serviceAccountName"] = account;
  draft["serviceAccount"] = account;
}

function setProbeDefaults(draft: Draft): void {
  setIfZero(draft, "timeoutSeconds", 1);
  setIfZero(draft, "periodSeconds", 10);
  setIfZero(draft, "successThreshold", 1);
  setIfZero(draft, "failureThreshold", 3);
}

/** The volume sources. A volume without one is an emptyDir. */
const volumeSources = [
  "hostPath",
  "emptyDir",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "gitRepo",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "persistentVolumeClaim",
  "rbd",
  "flexVolume",
  "cinder",
  "cephfs",
  "flocker",
  "downwardAPI",
  "fc",
  "azureFile",
  "configMap",
  "vsphereVolume",
  "quobyte",
  "azureDisk",
  "photonPersistentDisk",
  "projected",
  "portworxVolume",
  "scaleIO",
  "storageos",
  "csi",
  "ephemeral",
  "image",
];

function setVolumeDefaults(draft: Draft): void {
  if (!volumeSources.some((source) => has(draft, source))) draft["emptyDir"] = {};
  const image = findDraft(draft, "image");
  if (image === undefined) return;
  setIfEmpty(image, "pullPolicy", imageTag(textAt(image, "reference")) === "latest" ? "Always" : "IfNotPresent");
}

function setPodDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  for (const each of [...draftsAt(spec, "containers"), ...draftsAt(spec, "initContainers")]) {
    setRequestsFromLimits(each);
    if (booleanAt(spec, "hostNetwork")) setHostPorts(each);
  }
  if (has(spec, "resources")) setPodResources(spec);
  setIfAbsent(spec, "enableServiceLinks", true);
}

function setRequestsFromLimits(each: Draft): void {
  const resources = findDraft(each, "resources");
  const limits = resources === undefined ? undefined : findDraft(resources, "limits");
  if (resources === undefined || limits === undefined || Object.keys(limits).length === 0) return;
  const requests = draftAt(resources, "requests");
  for (const [name, amount] of Object.entries(limits)) if (!Object.hasOwn(requests, name)) put(requests, name, amount);
}

function setHostPorts(each: Draft): void {
  for (const port of draftsAt(each, "ports")) setIfZero(port, "hostPort", numberAt(port, "containerPort"));
}

/** Sets the requests of the Pod as a whole from those of its containers and from its limits. */
function setPodResources(spec: Draft): void {
  const resources = draftAt(spec, "resources");
  const limits = findDraft(resources, "limits");
  if (limits === undefined || Object.keys(limits).length === 0) return;
  const requests = findDraft(resources, "requests") ?? {};
  const sums = aggregateResources(spec, "requests");
  for (const name of ["cpu", "memory"]) {
    const sum = sums.get(name);
    if (sum !== undefined && !Object.hasOwn(requests, name)) requests[name] = sum;
  }
  for (const [name, amount] of Object.entries(limits)) {
    const isKnown = name === "cpu" || name === "memory" || name.startsWith("hugepages-");
    if (isKnown && !Object.hasOwn(requests, name)) put(requests, name, amount);
  }
  if (Object.keys(requests).length > 0) resources["requests"] = requests;
}

/** Sets `podIP` and `podIPs` from each other. */
function setPodStatusDefaults(draft: Draft): void {
  const [ip, first] = [textAt(draft, "podIP"), draftsAt(draft, "podIPs")[0]];
  if (ip !== "" && textAt(first ?? {}, "ip") !== ip) draft["podIPs"] = [{ ip }];
  else if (ip === "" && first !== undefined) draft["podIP"] = textAt(first, "ip");
}

const setDefaultMode = (draft: Draft) => setIfAbsent(draft, "defaultMode", fileMode);

/** The defaults of Pods, and of all types in Pod templates. */
export const podDefaults: DefaultsByType = {
  "core/v1.Container": setContainerDefaults,
  "core/v1.EphemeralContainer": setContainerDefaults,
  "core/v1.PodSpec": setPodSpecDefaults,
  "core/v1.Probe": setProbeDefaults,
  "core/v1.Volume": setVolumeDefaults,
  "core/v1.Pod": setPodDefaults,
  "core/v1.PodStatus": setPodStatusDefaults,
  "core/v1.HTTPGetAction": (draft) => {
    setIfEmpty(draft, "path", "/");
    setIfEmpty(draft, "scheme", "HTTP");
  },
  "core/v1.SecretVolumeSource": setDefaultMode,
  "core/v1.ConfigMapVolumeSource": setDefaultMode,
  "core/v1.DownwardAPIVolumeSource": setDefaultMode,
  "core/v1.ProjectedVolumeSource": setDefaultMode,
  "core/v1.ServiceAccountTokenProjection": (draft) => setIfAbsent(draft, "expirationSeconds", 3_600),
  "core/v1.ObjectFieldSelector": (draft) => setIfEmpty(draft, "apiVersion", "v1"),
  "core/v1.HostPathVolumeSource": (draft) => setIfAbsent(draft, "type", ""),
};

/**
 * The tag of an image: `latest` when it has neither a tag nor a digest; "" for a digest or an invalid name. E.g. `latest` for
 * `registry.example:5000/app`, `v1` for `app:v1`.
 */
function imageTag(image: string): string {
  const at = image.indexOf("@");
  const bare = at < 0 ? image : image.slice(0, at);
  const colon = bare.lastIndexOf(":");
  const hasTag = colon > bare.lastIndexOf("/");
  if (hasTag) return bare.slice(colon + 1);
  if (at >= 0) return "";
  return isImageName(bare) ? "latest" : "";
}

function isImageName(name: string): boolean {
  return /^[a-z0-9A-Z.:/_[\]-]+$/.test(name) && /^(?:[^/]*[.:A-Z][^/]*\/|localhost\/)?[a-z0-9._/-]+$/.test(name);
}
