/**
 * The environment and the files of a simulated container: what a kubelet would give it from the Pod, ConfigMaps, Secrets, the
 * downward API and tokens of its ServiceAccount. They are read when a command starts.
 *
 * It does not have the files of the image, and nothing can be written.
 */
import type { ActionCall } from "../registry/mod.ts";
import { fromBase64 } from "../../runtime/mod.ts";
import { type JsonObject, read } from "../model/mod.ts";
import { findObject, has, numberAt, objectAt, objectIn, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";

/** What a command in a simulated container sees. */
export interface ContainerView {
  readonly hostname: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly workingDirectory: string;
  /** By absolute path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Mounted folders, also empty ones. */
  readonly folders: ReadonlySet<string>;
}

/** Where the objects of a Pod are. */
export interface PodContext {
  readonly call: ActionCall;
  readonly pod: JsonObject;
}

const encoder = new TextEncoder();

/** What a container sees now. */
export async function viewOf(context: PodContext, container: JsonObject): Promise<ContainerView> {
  const { pod, call } = context;
  const spec = objectAt(pod, "spec");
  const hostname = textAt(spec, "hostname") === "" ? call.name.slice(0, 63) : textAt(spec, "hostname");
  const files = new Map<string, Uint8Array>([["/etc/hostname", encoder.encode(`${hostname}\n`)]]);
  const folders = new Set<string>();
  for (const mount of objectsAt(container, "volumeMounts")) {
    const volume = objectsAt(spec, "volumes").find((one) => textAt(one, "name") === textAt(mount, "name"));
    const path = normalizedPath("/", textAt(mount, "mountPath"));
    const subPath = textAt(mount, "subPath");
    const found = volume === undefined ? new Map<string, Uint8Array>() : await filesOf(context, volume, container);
    const only = found.get(subPath);
    if (subPath !== "" && only !== undefined) files.set(path, only);
    else {
      folders.add(path);
      const prefix = subPath === "" ? "" : `${subPath}/`;
      for (const [name, bytes] of found) {
        if (name.startsWith(prefix)) files.set(normalizedPath(path, name.slice(prefix.length)), bytes);
      }
    }
  }
  const directory = textAt(container, "workingDir");
  return {
    ...{ hostname, files, folders },
    environment: environmentOf(context, container, hostname),
    workingDirectory: directory === "" ? "/" : directory,
  };
}

/** An absolute path without `.`, `..` and double slashes. */
export function normalizedPath(from: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${from}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The data of a ConfigMap or a Secret. A simulated Pod runs also without it; then there is none. */
function dataOf({ call }: PodContext, kind: "configmaps" | "secrets", name: string): Files {
  const data: Files = new Map();
  const object = call.registry.storage.get(kind, call.namespace, name);
  if (object === undefined) return data;
  for (const [key, text] of textMapAt(object, "data")) {
    data.set(key, kind === "secrets" ? fromBase64(text) : encoder.encode(text));
  }
  for (const [key, text] of textMapAt(object, "binaryData")) data.set(key, fromBase64(text));
  return data;
}

function environmentOf(context: PodContext, container: JsonObject, hostname: string): ReadonlyMap<string, string> {
  const found = new Map([
    ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["HOSTNAME", hostname],
  ]);
  for (const source of objectsAt(container, "envFrom")) {
    for (const [field, kind] of [["configMapRef", "configmaps"], ["secretRef", "secrets"]] as const) {
      const reference = findObject(source, field);
      if (reference === undefined) continue;
      const data = dataOf(context, kind, textAt(reference, "name"));
      for (const [key, bytes] of data) found.set(textAt(source, "prefix") + key, new TextDecoder().decode(bytes));
    }
  }
  for (const variable of objectsAt(container, "env")) {
    const value = has(variable, "valueFrom")
      ? valueFrom(context, container, objectAt(variable, "valueFrom"))
      : expanded(textAt(variable, "value"), found);
    if (value !== undefined) found.set(textAt(variable, "name"), value);
  }
  return found.set("HOME", found.get("HOME") ?? "/root");
}

/** `$(NAME)` becomes the value of a variable before it, `$$` a dollar sign. */
function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name) => whole === "$$" ? "$" : variables.get(name) ?? whole);
}

function valueFrom(context: PodContext, container: JsonObject, source: JsonObject): string | undefined {
  for (const [field, kind] of [["configMapKeyRef", "configmaps"], ["secretKeyRef", "secrets"]] as const) {
    const reference = findObject(source, field);
    if (reference === undefined) continue;
    const bytes = dataOf(context, kind, textAt(reference, "name")).get(textAt(reference, "key"));
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }
  return downwardValue(context.pod, container, source);
}

/** A field of the Pod, or a resource of a container. */
function downwardValue(pod: JsonObject, container: JsonObject, source: JsonObject): string {
  const path = textAt(objectAt(source, "fieldRef"), "fieldPath");
  const metadata = objectAt(pod, "metadata");
  const [, map = "", key = ""] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (map !== "") return textMapAt(metadata, map).get(key) ?? "";
  if (path === "metadata.labels" || path === "metadata.annotations") {
    const entries = [...textMapAt(metadata, path.slice("metadata.".length))].toSorted(([a], [b]) => a < b ? -1 : 1);
    return entries.map(([name, value]) => `${name}=${JSON.stringify(value)}\n`).join("");
  }
  if (path === "status.podIPs" || path === "status.hostIPs") {
    return objectsAt(objectAt(pod, "status"), path.slice("status.".length)).map((one) => textAt(one, "ip")).join(",");
  }
  const [parent = "", field = ""] = path.split(".");
  if (path !== "") return textAt(objectAt(pod, parent), field);
  const reference = objectAt(source, "resourceFieldRef");
  const name = textAt(reference, "containerName");
  const owner = objectsAt(objectAt(pod, "spec"), "containers").find((one) => textAt(one, "name") === name) ?? container;
  const [list = "", ...resource] = textAt(reference, "resource").split(".");
  return String(read(objectIn(owner, "resources", list), resource.join(".")) ?? "0");
}

type Files = Map<string, Uint8Array>;

/** The files of a volume by their paths in it. */
async function filesOf(context: PodContext, volume: JsonObject, container: JsonObject): Promise<Files> {
  const files: Files = new Map();
  const projected = findObject(volume, "projected");
  const sources = projected === undefined ? [volume] : objectsAt(projected, "sources");
  for (const source of sources) {
    for (const [path, bytes] of await filesOfSource(context, source, container)) files.set(path, bytes);
  }
  return files;
}

async function filesOfSource(context: PodContext, volume: JsonObject, container: JsonObject): Promise<Files> {
  for (const [field, kind] of [["configMap", "configmaps"], ["secret", "secrets"]] as const) {
    const source = findObject(volume, field);
    if (source === undefined) continue;
    const name = has(source, "secretName") ? textAt(source, "secretName") : textAt(source, "name");
    const data = dataOf(context, kind, name);
    if (objectsAt(source, "items").length === 0) return data;
    const chosen: Files = new Map();
    for (const item of objectsAt(source, "items")) {
      const bytes = data.get(textAt(item, "key"));
      if (bytes !== undefined) chosen.set(textAt(item, "path"), bytes);
    }
    return chosen;
  }
  const downward = findObject(volume, "downwardAPI");
  if (downward !== undefined) {
    return new Map(
      objectsAt(downward, "items").map((item) => [
        textAt(item, "path"),
        encoder.encode(downwardValue(context.pod, container, item)),
      ]),
    );
  }
  const token = findObject(volume, "serviceAccountToken");
  if (token === undefined) return new Map();
  return new Map([[textAt(token, "path"), encoder.encode(await tokenOf(context, token))]]);
}

/** A token that the server accepts, bound to the Pod. */
async function tokenOf({ call, pod }: PodContext, source: JsonObject): Promise<string> {
  const handler = call.registry.subresourceHandler("serviceaccounts", "token");
  if (handler === undefined) return "";
  const account = textAt(objectAt(pod, "spec"), "serviceAccountName");
  const audience = textAt(source, "audience");
  const boundObjectRef = {
    kind: "Pod",
    apiVersion: "v1",
    name: call.name,
    uid: textAt(objectAt(pod, "metadata"), "uid"),
  };
  const response = await handler.handle({
    ...call,
    subresource: "token",
    name: account === "" ? "default" : account,
    verb: "create",
    isDryRun: false,
    body: {
      spec: {
        audiences: audience === "" ? [] : [audience],
        expirationSeconds: numberAt(source, "expirationSeconds") || 3600,
        boundObjectRef,
      },
    },
  });
  return response.kind === "object" ? textAt(objectAt(response.object, "status"), "token") : "";
}
