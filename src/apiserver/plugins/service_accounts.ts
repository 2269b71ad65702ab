/**
 * ServiceAccount: sets the ServiceAccount of a Pod and mounts its token. Source: kubernetes
 * `plugin/pkg/admission/serviceaccount` of 1.36.
 *
 * Guarantees: a Pod that names a ServiceAccount that does not exist is rejected.
 * Caveats: the ServiceAccount `default` may be missing. The real server waits for the controller that creates it; this one
 * admits the Pod.
 */
import type { Random } from "../../async/mod.ts";
import {
  draftAt,
  draftsAt,
  findObject,
  has,
  objectAt,
  objectsAt,
  secretNames,
  textAt,
  textMapAt,
} from "../kinds/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Draft, JsonObject, ObjectReader } from "../model/mod.ts";
import { generatedName, readMetadata } from "../registry/mod.ts";
import { forbiddenError, newObject } from "./_request.ts";

/** The prefix of the names of token volumes; five random characters follow. */
export const tokenVolumePrefix = "kube-api-access-";

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

/** One hour and seven seconds, so that the default of the server can be recognized. */
const tokenSeconds = 3607;
const mirror = "kubernetes.io/config.mirror";
const enforced = "kubernetes.io/enforce-mountable-secrets";

/** The plugin for Pods. */
export function serviceAccounts(objects: ObjectReader, random: Random): AdmissionPlugin {
  return {
    name: "ServiceAccount",
    admit(request) {
      const pod = newObject(request);
      if (pod === undefined) return;
      if (isMirror(pod)) return checkMirror(request, pod);
      const spec = draftAt(pod, "spec");
      if (textAt(spec, "serviceAccountName") === "") spec["serviceAccountName"] = "default";
      const name = textAt(spec, "serviceAccountName");
      spec["serviceAccount"] = name;
      const account = accountOf(objects, request, name);
      if (mountsToken(spec, account)) mountToken(spec, random);
      const pullSecrets = objectsAt(account, "imagePullSecrets");
      if (objectsAt(spec, "imagePullSecrets").length === 0 && pullSecrets.length > 0) {
        spec["imagePullSecrets"] = pullSecrets.map((secret) => ({ name: textAt(secret, "name") }));
      }
    },
    validate(request) {
      const pod = newObject(request);
      if (pod === undefined) return;
      if (isMirror(pod)) return checkMirror(request, pod);
      const spec = objectAt(pod, "spec");
      const name = textAt(spec, "serviceAccountName");
      if (name === "") {
        throw forbiddenError(request, `no service account specified for pod ${request.namespace}/${request.name}`);
      }
      const account = accountOf(objects, request, name);
      if (/^(1|t|T|TRUE|true|True)$/.test(textMapAt(readMetadata(account), "annotations").get(enforced) ?? "")) {
        checkSecrets(request, spec, account);
      }
    },
  };
}

function isMirror(pod: JsonObject): boolean {
  return textMapAt(readMetadata(pod), "annotations").has(mirror);
}

function accountOf(objects: ObjectReader, request: AdmissionRequest, name: string): JsonObject {
  const { namespace } = request;
  const account = objects.get("serviceaccounts", namespace, name);
  if (account !== undefined || name === "default") return account ?? {};
  const missing = `serviceaccount ${JSON.stringify(name)} not found`;
  throw forbiddenError(request, `error looking up service account ${namespace}/${name}: ${missing}`);
}

/** The setting of the Pod has precedence over that of its ServiceAccount. */
function mountsToken(spec: JsonObject, account: JsonObject): boolean {
  const own = spec["automountServiceAccountToken"];
  if (typeof own === "boolean") return own;
  return account["automountServiceAccountToken"] !== false;
}

function mountToken(spec: Draft, random: Random): void {
  const volumes = draftsAt(spec, "volumes");
  const held = volumes.map((volume) => textAt(volume, "name")).find((name) => name.startsWith(tokenVolumePrefix));
  const name = held ?? generatedName(tokenVolumePrefix, random);
  let isNeeded = false;
  for (const container of [...draftsAt(spec, "initContainers"), ...draftsAt(spec, "containers")]) {
    const mounts = draftsAt(container, "volumeMounts");
    if (mounts.some((mount) => textAt(mount, "mountPath") === mountPath)) continue;
    container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath }];
    isNeeded = true;
  }
  if (held === undefined && isNeeded) spec["volumes"] = [...volumes, { name, projected: tokenSource() }];
}

function tokenSource(): Draft {
  const namespace = { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } };
  return {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [namespace] } },
    ],
  };
}

/** Rejects mirror Pods, which a kubelet creates from files, that refer to objects of the cluster. */
function checkMirror(request: AdmissionRequest, pod: JsonObject): void {
  const spec = objectAt(pod, "spec");
  if (textAt(spec, "serviceAccountName") !== "") {
    throw forbiddenError(request, "a mirror pod may not reference service accounts");
  }
  const volumes = objectsAt(spec, "volumes");
  if (secretNames(spec).next().done !== true) {
    throw forbiddenError(request, "a mirror pod may not reference secrets");
  }
  const sources = volumes.flatMap((volume) => objectsAt(objectAt(volume, "projected"), "sources"));
  if (sources.some((source) => has(source, "serviceAccountToken"))) {
    throw forbiddenError(request, "a mirror pod may not use ServiceAccountToken volume projections");
  }
}

/** A secret that a container uses in environment variables, and a description of the place. */
interface SecretUse {
  readonly secret: string;
  readonly where: string;
}

function secretsOfContainers(spec: JsonObject): readonly SecretUse[] {
  return ([["init container", "initContainers"], ["container", "containers"]] as const).flatMap(([title, list]) =>
    objectsAt(spec, list).flatMap((container) => {
      const own = `${title} ${textAt(container, "name")}`;
      const variables = objectsAt(container, "env").flatMap((variable): readonly SecretUse[] => {
        const key = findObject(objectAt(variable, "valueFrom"), "secretKeyRef");
        const where = `${own} with envVar ${textAt(variable, "name")}`;
        return key === undefined ? [] : [{ secret: textAt(key, "name"), where }];
      });
      const whole = objectsAt(container, "envFrom").flatMap((source): readonly SecretUse[] => {
        const reference = findObject(source, "secretRef");
        return reference === undefined ? [] : [{ secret: textAt(reference, "name"), where: `${own} with envFrom` }];
      });
      return [...variables, ...whole];
    })
  );
}

/** Checks the secrets of a Pod whose ServiceAccount allows only the secrets that it names. */
function checkSecrets(request: AdmissionRequest, spec: JsonObject, account: JsonObject): void {
  const allowed = new Set(objectsAt(account, "secrets").map((secret) => textAt(secret, "name")));
  const name = textAt(readMetadata(account), "name");
  const tail = `is not allowed because service account ${name} does not reference that secret`;
  for (const volume of objectsAt(spec, "volumes")) {
    const secret = findObject(volume, "secret");
    if (secret === undefined || allowed.has(textAt(secret, "secretName"))) continue;
    throw forbiddenError(request, `volume with secret.secretName="${textAt(secret, "secretName")}" ${tail}`);
  }
  for (const { secret, where } of secretsOfContainers(spec)) {
    if (!allowed.has(secret)) {
      throw forbiddenError(request, `${where} referencing secret.secretName="${secret}" ${tail}`);
    }
  }
  const pulls = new Set(objectsAt(account, "imagePullSecrets").map((secret) => textAt(secret, "name")));
  for (const [index, secret] of objectsAt(spec, "imagePullSecrets").entries()) {
    if (pulls.has(textAt(secret, "name"))) continue;
    const why = `is not allowed because service account ${name} does not reference that imagePullSecret`;
    throw forbiddenError(request, `imagePullSecrets[${index}].name="${textAt(secret, "name")}" ${why}`);
  }
}
