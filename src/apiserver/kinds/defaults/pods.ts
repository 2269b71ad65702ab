/**
 * Defaults of Pods and everything that holds a template of one: containers, probes, volumes. They hang on the types, so a
 * template gets them wherever it stands; what only a Pod itself gets hangs on the Pod.
 */
import { type Draft, draftOf, isDraft, put, read } from "../../model/mod.ts";
import type { Defaulter } from "../filler.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  flagAt,
  has,
  numberAt,
  setIfAbsent,
  setIfEmpty,
  setIfZero,
  textAt,
} from "../fields.ts";
import { imageTag } from "../images.ts";
import { aggregated } from "../pods/aggregate.ts";

/** Mode of files from a ConfigMap, a Secret and the like: 0644. */
const fileMode = 0o644;

function container(draft: Draft): void {
  setIfEmpty(draft, "imagePullPolicy", imageTag(textAt(draft, "image")) === "latest" ? "Always" : "IfNotPresent");
  setIfEmpty(draft, "terminationMessagePath", "/dev/termination-log");
  setIfEmpty(draft, "terminationMessagePolicy", "File");
}

function podSpec(draft: Draft): void {
  setIfEmpty(draft, "dnsPolicy", "ClusterFirst");
  setIfEmpty(draft, "restartPolicy", "Always");
  setIfAbsent(draft, "securityContext", {});
  setIfAbsent(draft, "terminationGracePeriodSeconds", 30);
  setIfEmpty(draft, "schedulerName", "default-scheduler");
  // Both names of the field are written, whichever was read.
  const account = textAt(draft, "serviceAccountName") || textAt(draft, "serviceAccount");
  if (account === "") return;
  draft["serviceAccountName"] = account;
  draft["serviceAccount"] = account;
}

function probe(draft: Draft): void {
  setIfZero(draft, "timeoutSeconds", 1);
  setIfZero(draft, "periodSeconds", 10);
  setIfZero(draft, "successThreshold", 1);
  setIfZero(draft, "failureThreshold", 3);
}

/** Sources of volumes: a volume without one is an empty directory. */
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

function volume(draft: Draft): void {
  if (!volumeSources.some((source) => has(draft, source))) draft["emptyDir"] = {};
  const image = findDraft(draft, "image");
  if (image === undefined) return;
  setIfEmpty(image, "pullPolicy", imageTag(textAt(image, "reference")) === "latest" ? "Always" : "IfNotPresent");
}

function pod(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  for (const each of [...draftsAt(spec, "containers"), ...draftsAt(spec, "initContainers")]) {
    requestsFromLimits(each);
    if (flagAt(spec, "hostNetwork")) hostPorts(each);
  }
  if (has(spec, "resources")) podResources(spec);
  setIfAbsent(spec, "enableServiceLinks", true);
}

function requestsFromLimits(each: Draft): void {
  const resources = findDraft(each, "resources");
  const limits = resources === undefined ? undefined : findDraft(resources, "limits");
  if (resources === undefined || limits === undefined || Object.keys(limits).length === 0) return;
  const requests = draftAt(resources, "requests");
  for (const [name, amount] of Object.entries(limits)) if (!Object.hasOwn(requests, name)) put(requests, name, amount);
}

function hostPorts(each: Draft): void {
  for (const port of draftsAt(each, "ports")) setIfZero(port, "hostPort", numberAt(port, "containerPort"));
}

/** Resources of the Pod as a whole follow from those of its containers. */
function podResources(spec: Draft): void {
  const resources = draftAt(spec, "resources");
  const limits = findDraft(resources, "limits");
  if (limits === undefined || Object.keys(limits).length === 0) return;
  const requests = findDraft(resources, "requests") ?? {};
  const sums = aggregated(spec, "requests");
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

function nodeStatus(draft: Draft): void {
  const capacity = read(draft, "capacity");
  if (isDraft(capacity)) setIfAbsent(draft, "allocatable", draftOf(capacity));
}

/** Who knows only of one address writes only that one. */
function podStatus(draft: Draft): void {
  const [ip, first] = [textAt(draft, "podIP"), draftsAt(draft, "podIPs")[0]];
  if (ip !== "" && textAt(first ?? {}, "ip") !== ip) draft["podIPs"] = [{ ip }];
  else if (ip === "" && first !== undefined) draft["podIP"] = textAt(first, "ip");
}

const mode = (draft: Draft) => setIfAbsent(draft, "defaultMode", fileMode);

/** The defaulters of this file, by type. */
export const podDefaults: ReadonlyMap<string, Defaulter> = new Map<string, Defaulter>([
  ["core/v1.Container", container],
  ["core/v1.EphemeralContainer", container],
  ["core/v1.PodSpec", podSpec],
  ["core/v1.Probe", probe],
  ["core/v1.Volume", volume],
  ["core/v1.Pod", pod],
  ["core/v1.PodStatus", podStatus],
  ["core/v1.HTTPGetAction", (draft) => {
    setIfEmpty(draft, "path", "/");
    setIfEmpty(draft, "scheme", "HTTP");
  }],
  ["core/v1.SecretVolumeSource", mode],
  ["core/v1.ConfigMapVolumeSource", mode],
  ["core/v1.DownwardAPIVolumeSource", mode],
  ["core/v1.ProjectedVolumeSource", mode],
  ["core/v1.ServiceAccountTokenProjection", (draft) => setIfAbsent(draft, "expirationSeconds", 3_600)],
  ["core/v1.ObjectFieldSelector", (draft) => setIfEmpty(draft, "apiVersion", "v1")],
  ["core/v1.HostPathVolumeSource", (draft) => setIfAbsent(draft, "type", "")],
  ["core/v1.NodeStatus", nodeStatus],
]);
