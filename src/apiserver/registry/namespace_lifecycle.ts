/**
 * NamespaceLifecycle: nothing is created in a namespace that is not there or is going away, and the namespaces of the
 * system stay. The admission plugin of that name in kube-apiserver.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  isJsonObject,
  notFound,
  type ObjectReader,
  read,
  Refusal,
} from "../model/mod.ts";
import { metadataText } from "./metadata.ts";

/** Options of {@link namespaceLifecycle}. */
export interface NamespaceLifecycleOptions {
  readonly objects: ObjectReader;
  /** True while the server knows namespaces at all. */
  hasNamespaces(): boolean;
}

/** Namespaces that nobody may delete. */
const immortal: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);

/** The plugin. */
export function namespaceLifecycle(options: NamespaceLifecycleOptions): AdmissionPlugin {
  const admit = (request: AdmissionRequest): void => {
    if (!options.hasNamespaces()) return;
    const { operation, kind, name, namespace } = request;
    if (kind.collection === "namespaces") {
      if (operation === "DELETE" && immortal.has(name)) throw immortalRefusal(name);
      return;
    }
    if (namespace === "" || operation === "DELETE") return;
    // The right to look at one's own access does not depend on the namespace being there.
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
  throw new Refusal(403, "Forbidden", `${resource} ${JSON.stringify(name)} is forbidden: ${why}`, {
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

function immortalRefusal(name: string): Refusal {
  const message = `namespaces ${JSON.stringify(name)} is forbidden: this namespace may not be deleted`;
  return new Refusal(403, "Forbidden", message, { name, kind: "namespaces" });
}
