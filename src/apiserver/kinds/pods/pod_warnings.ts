/** Warnings about the spec of a Pod or a template: pkg/api/pod/warnings.go of Kubernetes 1.36. */
import type { JsonObject } from "../../model/mod.ts";
import { FieldPath, ipWarnings } from "../rules/mod.ts";
import {
  findObject,
  has,
  metadataOf,
  numberAt,
  objectAt,
  objectIn,
  objectsAt,
  parseQuantity,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { claimSpecWarnings } from "./claim_spec.ts";
import { containersOf } from "./pod_containers.ts";
import { nodeLabelWarning, nodeTermWarnings } from "./scheduling.ts";

const oldAnnotations = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;

const oldVolumes = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
] as const;

const seccompPod = "seccomp.security.alpha.kubernetes.io/pod";
const seccompContainer = "container.seccomp.security.alpha.kubernetes.io/";
const oldSeccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const noSelector = "a null labelSelector results in matching no pod";
const nanosPerUnit = 1_000_000_000n;

/** Returns the warnings about a Pod or a template. @param path of the template; the root for a Pod */
export function podWarnings(template: JsonObject, path: FieldPath = FieldPath.root): readonly string[] {
  const spec = objectAt(template, "spec");
  const place = path.child("spec");
  return [
    ...nodeWarnings(spec, place),
    ...annotationWarnings(metadataOf(template), spec, path),
    ...volumeWarnings(spec, place.child("volumes")),
    ...overlapWarnings(objectsAt(spec, "volumes")),
    ...repeatedWarnings(spec, place),
    ...amountWarnings(spec, "overhead", place.child("overhead")),
    ...containersOf(spec, place).flatMap((each) =>
      containerWarnings(each.container, metadataOf(template), path, each.path)
    ),
    ...portWarnings(spec, place),
    ...otherWarnings(spec, place),
  ];
}

function nodeWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const affinity = objectIn(spec, "affinity", "nodeAffinity");
  const place = path.child("affinity", "nodeAffinity");
  const [required, preferred] = [
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
  ];
  const selector = Object.keys(objectAt(spec, "nodeSelector")).flatMap((label) => {
    const warning = nodeLabelWarning(label);
    return warning === undefined ? [] : [`${path.child("nodeSelector").key(label)}: ${warning}`];
  });
  return [
    ...selector,
    ...objectsAt(objectAt(affinity, required), "nodeSelectorTerms").flatMap((term, index) =>
      nodeTermWarnings(term, false, place.child(required, "nodeSelectorTerms").index(index))
    ),
    ...objectsAt(affinity, preferred).flatMap((term, index) =>
      nodeTermWarnings(objectAt(term, "preference"), true, place.child(preferred).index(index).child("preference"))
    ),
    ...objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
      const at = path.child("topologySpreadConstraints").index(index);
      const key = textAt(constraint, "topologyKey");
      const warning = nodeLabelWarning(key);
      return [
        ...(warning === undefined ? [] : [`${at.child("topologyKey")}: ${key} is ${warning}`]),
        ...(has(constraint, "labelSelector") ? [] : [`${at.child("labelSelector")}: ${noSelector}`]),
      ];
    }),
  ];
}

function annotationWarnings(metadata: JsonObject, spec: JsonObject, path: FieldPath): readonly string[] {
  const annotations = textMapAt(metadata, "annotations");
  const place = path.child("metadata", "annotations");
  const hasSeccomp = has(objectAt(spec, "securityContext"), "seccompProfile");
  return [
    ...oldAnnotations.filter(([key]) => annotations.has(key)).map(([key, why]) => `${place.key(key)}: ${why}`),
    ...(annotations.has(seccompPod) && !hasSeccomp ? [`${place.key(seccompPod)}: ${oldSeccomp}`] : []),
  ];
}

function volumeWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  return objectsAt(spec, "volumes").flatMap((volume, index) => {
    const template = findObject(objectAt(volume, "ephemeral"), "volumeClaimTemplate");
    const place = path.index(index);
    const claim = place.child("ephemeral", "volumeClaimTemplate", "spec");
    return [
      ...oldVolumes.filter(([key]) => has(volume, key)).map(([key, why]) => `${place.child(key)}: ${why}`),
      ...(template === undefined ? [] : claimSpecWarnings(objectAt(template, "spec"), claim)),
    ];
  });
}

function repeatedWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const secrets = objectsAt(spec, "imagePullSecrets");
  return [
    ...repeated(objectsAt(spec, "hostAliases"), "ip", path.child("hostAliases")),
    ...repeated(secrets, "name", path.child("imagePullSecrets")),
    ...secrets.flatMap((secret, index) =>
      textAt(secret, "name") === ""
        ? [`${path.child("imagePullSecrets").index(index).child("name")}: invalid empty name ""`]
        : []
    ),
  ];
}

function repeated(items: readonly JsonObject[], key: string, path: FieldPath): readonly string[] {
  const values = items.map((item) => textAt(item, key));
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [`${path.index(index).child(key)}: duplicate ${key} ${JSON.stringify(value)}`];
    seen.add(value);
    return [];
  });
}

function amountWarnings(holder: JsonObject, key: string, path: FieldPath): readonly string[] {
  const amounts = textMapAt(holder, key);
  return ["memory", "ephemeral-storage"].flatMap((name) => {
    const amount = amounts.get(name);
    if (amount === undefined || parseQuantity(amount).nano % nanosPerUnit === 0n) return [];
    return [`${path.key(name)}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
  });
}

function containerWarnings(
  container: JsonObject,
  metadata: JsonObject,
  top: FieldPath,
  path: FieldPath,
): readonly string[] {
  const key = `${seccompContainer}${textAt(container, "name")}`;
  const isOld = textMapAt(metadata, "annotations").has(key) &&
    !has(objectAt(container, "securityContext"), "seccompProfile");
  const resources = objectAt(container, "resources");
  return [
    ...(isOld ? [`${top.child("metadata", "annotations").key(key)}: ${oldSeccomp}`] : []),
    ...["limits", "requests"].flatMap((each) => amountWarnings(resources, each, path.child("resources", each))),
    ...variableWarnings(objectsAt(container, "env"), path.child("env")),
  ];
}

/** Warns about a variable that is listed twice: it hides the first, and apply drops one of them. */
function variableWarnings(variables: readonly JsonObject[], path: FieldPath): readonly string[] {
  const names = new Set<string>();
  return variables.flatMap((variable, index) => {
    const [name, value] = [textAt(variable, "name"), textAt(variable, "value")];
    const isSecond = names.has(name);
    names.add(name);
    const reference = `$(${name})`;
    const isBad = has(variable, "valueFrom") || value === reference || !value.includes(reference);
    const why = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return isSecond && isBad ? [`${path.index(index)}: ${why}`] : [];
  });
}

interface PortPlace {
  readonly path: FieldPath;
  readonly port: JsonObject;
}

function portWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const places: readonly PortPlace[] = containersOf(spec, path).flatMap((each) =>
    objectsAt(each.container, "ports").map((port, index) => ({ port, path: each.path.child("ports").index(index) }))
  );
  const clashes = portClashes(places);
  const names = new Map<string, FieldPath>();
  const repeatedNames = places.flatMap(({ port, path: at }) => {
    const name = textAt(port, "name");
    const first = names.get(name);
    if (name !== "" && first === undefined) names.set(name, at);
    if (first === undefined) return [];
    const tail = `services and probes that select ports by name will use ${first}`;
    return [`${at}: duplicate port name ${JSON.stringify(name)} with ${first}, ${tail}`];
  });
  return [...clashes, ...repeatedNames];
}

/** Warnings are advice: a Pod with hundreds of ports of one number need not get all of them. */
const maxPortComparisons = 100_000;

/** Compares each port with those before it that have the same number. */
function portClashes(places: readonly PortPlace[]): readonly string[] {
  const warnings: string[] = [];
  const seen = new Map<number, PortPlace[]>();
  let comparisons = 0;
  for (const place of places) {
    const number = numberAt(place.port, "containerPort");
    const others = seen.get(number) ?? [];
    warnings.push(...unusedHostIp(place));
    for (const other of others) {
      if (++comparisons > maxPortComparisons) return warnings;
      warnings.push(...portConflict(place, other));
    }
    others.push(place);
    seen.set(number, others);
  }
  return warnings;
}

function unusedHostIp({ port, path }: PortPlace): readonly string[] {
  if (textAt(port, "hostIP") === "" || numberAt(port, "hostPort") !== 0) return [];
  const shown = `{Name:${textAt(port, "name")} HostPort:0 ContainerPort:${numberAt(port, "containerPort")} ` +
    `Protocol:${textAt(port, "protocol")} HostIP:${textAt(port, "hostIP")}}`;
  return [`${path}: hostIP set without hostPort: ${shown}`];
}

function portConflict({ port, path }: PortPlace, { port: other, path: at }: PortPlace): readonly string[] {
  const isSame = (key: string) => (port[key] ?? null) === (other[key] ?? null);
  if (!isSame("containerPort") || !isSame("protocol")) return [];
  const [host, otherHost] = [numberAt(port, "hostPort"), numberAt(other, "hostPort")];
  const [ip, otherIp] = [textAt(port, "hostIP"), textAt(other, "hostIP")];
  if (ip === otherIp && host === otherHost) return [`${path}: duplicate port definition with ${at}`];
  if (host === 0 || otherHost === 0) return [`${path}: overlapping port definition with ${at}`];
  const isAmbiguous = host === otherHost && (ip === "") !== (otherIp === "");
  return isAmbiguous ? [`${path}: dangerously ambiguous port definition with ${at}`] : [];
}

function otherWarnings(spec: JsonObject, path: FieldPath): readonly string[] {
  const grace = numberAt(spec, "terminationGracePeriodSeconds");
  const negative = "must be >= 0; negative values are invalid and will be treated as 1";
  const servers = textsAt(objectAt(spec, "dnsConfig"), "nameservers");
  return [
    ...(grace < 0 ? [`${path.child("terminationGracePeriodSeconds")}: ${negative}`] : []),
    ...["podAffinity", "podAntiAffinity"].flatMap((key) => affinityWarnings(spec, key, path)),
    ...servers.flatMap((ip, index) => ipWarnings(path.child("dnsConfig", "nameservers").index(index), ip)),
    ...objectsAt(spec, "hostAliases").flatMap((alias, index) =>
      ipWarnings(path.child("hostAliases").index(index).child("ip"), textAt(alias, "ip"))
    ),
  ];
}

function affinityWarnings(spec: JsonObject, key: string, path: FieldPath): readonly string[] {
  const [required, preferred] = [
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
  ];
  const held = objectIn(spec, "affinity", key);
  const place = path.child("affinity", key);
  const ofTerm = (term: JsonObject, at: FieldPath) =>
    has(term, "labelSelector") ? [] : [`${at.child("labelSelector")}: ${noSelector}`];
  return [
    ...objectsAt(held, required).flatMap((term, index) => ofTerm(term, place.child(required).index(index))),
    ...objectsAt(held, preferred).flatMap((term, index) =>
      ofTerm(objectAt(term, "podAffinityTerm"), place.child(preferred).index(index).child("podAffinityTerm"))
    ),
  ];
}

interface Place {
  readonly path: string;
  /** The source of the file; "" when the volume has only one. */
  readonly source: string;
}

/** Returns warnings about files of volumes at the same path, or at the path of a directory of another file. */
function overlapWarnings(volumes: readonly JsonObject[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const name = textAt(volume, "name");
    const projected = findObject(volume, "projected");
    const overlaps = sourcesOf(volume).flatMap(({ source, places }) =>
      overlapsOf(places).map((text) => `volume ${JSON.stringify(name)} (${source}): overlapping paths: ${text}`)
    );
    return [...overlaps, ...(projected === undefined ? [] : projectedWarnings(projected, name))];
  });
}

/** The titles of volumes in warnings. */
const titles: ReadonlyMap<string, (source: JsonObject) => string> = new Map([
  ["configMap", (source: JsonObject) => `ConfigMap ${JSON.stringify(textAt(source, "name"))}`],
  ["secret", (source: JsonObject) => `Secret ${JSON.stringify(textAt(source, "secretName"))}`],
  ["downwardAPI", () => "DownwardAPI"],
]);

function sourcesOf(volume: JsonObject): readonly { readonly source: string; readonly places: readonly Place[] }[] {
  return [...titles].flatMap(([key, title]) => {
    const source = findObject(volume, key);
    return source === undefined ? [] : [{ source: title(source), places: itemsOf(source, "") }];
  });
}

function itemsOf(holder: JsonObject, source: string): readonly Place[] {
  return objectsAt(holder, "items").map((item) => ({ path: textAt(item, "path").replace(/\/+$/, ""), source }));
}

function projectedWarnings(projected: JsonObject, name: string): readonly string[] {
  const warnings: string[] = [];
  const seen: Place[] = [];
  for (const source of objectsAt(projected, "sources")) {
    if (Object.keys(source).length === 0) {
      warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
      continue;
    }
    for (const place of placesOf(source)) {
      for (const other of seen.filter((one) => doOverlap(one, place))) {
        const both = `${shown(place)} with ${shown(other)}`;
        warnings.push(`volume ${JSON.stringify(name)} (Projected): overlapping paths: ${both}`);
      }
      seen.push(place);
    }
  }
  return warnings;
}

function placesOf(source: JsonObject): readonly Place[] {
  for (const [key, title] of [["configMap", "ConfigMap"], ["secret", "Secret"]] as const) {
    const held = findObject(source, key);
    if (held !== undefined && has(held, "items")) {
      return itemsOf(held, `${title} ${JSON.stringify(textAt(held, "name"))}`);
    }
  }
  const downward = findObject(source, "downwardAPI");
  if (downward !== undefined) return itemsOf(downward, "DownwardAPI");
  const token = findObject(source, "serviceAccountToken");
  if (token !== undefined) return [{ path: textAt(token, "path"), source: "ServiceAccountToken" }];
  const bundle = findObject(source, "clusterTrustBundle");
  if (bundle !== undefined) {
    const name = has(bundle, "name") ? textAt(bundle, "name") : textAt(bundle, "signerName");
    return [{ path: textAt(bundle, "path"), source: `ClusterTrustBundle ${JSON.stringify(name)}` }];
  }
  const certificate = findObject(source, "podCertificate") ?? {};
  return [["certificateChainPath", "chain"], ["keyPath", "key"], ["credentialBundlePath", "credential bundle"]].flatMap(
    ([key = "", what]) => {
      const path = textAt(certificate, key);
      return path === "" ? [] : [{ path, source: `PodCertificate ${what}` }];
    },
  );
}

function overlapsOf(places: readonly Place[]): readonly string[] {
  return places.flatMap((place, index) =>
    places.slice(0, index).filter((other) => doOverlap(other, place)).map((other) =>
      `${shown(place)} with ${shown(other)}`
    )
  );
}

function doOverlap(left: Place, right: Place): boolean {
  if (left.path === "" || right.path === "") return false;
  return `${left.path}/`.startsWith(`${right.path}/`) || `${right.path}/`.startsWith(`${left.path}/`);
}

function shown({ path, source }: Place): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
