/**
 * The admission plugin NamespaceLifecycle of kube-apiserver: it rejects creates in a missing or terminating namespace, and
 * the deletion of system namespaces.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  isJsonObject,
  notFound,
  type ObjectReader,
  read,
  StatusError,
} from "../model/mod.ts";
import { metadataText } from "./metadata.ts";

/** Options of {@link namespaceLifecycle}. */
export interface NamespaceLifecycleOptions {
  readonly objects: ObjectReader;
  /** True while the server serves the kind Namespace. */
  hasNamespaces(): boolean;
}

/** Namespaces that cannot be deleted. */
const protectedNamespaces: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** The plugin. */
export function namespaceLifecycle(options: NamespaceLifecycleOptions): AdmissionPlugin {
  const admit = (request: AdmissionRequest): void => {
    if (!options.hasNamespaces()) return;
    const { operation, kind, name, namespace } = request;
    if (kind.collection === "namespaces") {
      if (operation === "DELETE" && protectedNamespaces.has(name)) throw protectedNamespaceError(name);
      return;
    }
    if (namespace === "" || operation === "DELETE") return;
    // A user may check access in a namespace that does not exist.
    if (kind.collection === "localsubjectaccessreviews.authorization.k8s.io") return;
    checkNamespace(options.objects, request);
  };
  return { name: "NamespaceLifecycle", admit };
}

function checkNamespace(objects: ObjectReader, request: AdmissionRequest): void {
  const { namespace, operation, kind, name } = request;
  const found = objects.get("namespaces", "", namespace);
  if (found === undefined) throw notFound({ group: "", resource: "namespaces", name: namespace });
  if (operation !== "CREATE") return;
  const status = read(found, "status");
  const isTerminating = metadataText(found, "deletionTimestamp") !== "" ||
    (isJsonObject(status) && read(status, "phase") === "Terminating");
  if (!isTerminating) return;
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw new StatusError(403, "Forbidden", `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.plural,
    causes: [{
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    }],
  });
}

function protectedNamespaceError(name: string): StatusError {
  const message = `namespaces ${JSON.stringify(name)} is forbidden: this namespace may not be deleted`;
  return new StatusError(403, "Forbidden", message, { name, kind: "namespaces" });
}
