/**
 * applyManifests(): applies the objects of `--files` to a planned cluster, as `kubectl apply --server-side` does: fields that an
 * earlier `kubectl apply` owns belong to it from then on, and conflicts with others are errors.
 */
import { isJsonObject, keyOf, type KubeObject, type ManagedFieldsEntry } from "../../api/mod.ts";
import { ApiError, type Client } from "../../client/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import type { ManifestObject } from "./manifest_files.ts";

const fieldManager = "kubectl";
/** The manager of `kubectl apply` without `--server-side`. */
const clientSide = "kubectl-client-side-apply";

/** Applies the objects in the order of the files. @throws CommandError when the server refuses one */
export async function applyManifests(client: Client, files: readonly ManifestObject[]): Promise<void> {
  for (const file of files) {
    const { object, resource, place } = file;
    const { managedFields: _, resourceVersion: _version, ...metadata } = object.metadata;
    try {
      await takeOverFields(client, file);
      await client.apply(resource, { ...object, metadata } as never, { fieldManager });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new CommandError(`Cannot apply ${object.kind} "${keyOf(object)}" of ${place}: ${error.status.message}`, {
        code: exitCode.failed,
        advice: error.code === 409 ? "kubectl apply --server-side would need --force-conflicts" : undefined,
        cause: error,
      });
    }
  }
}

/** Gives the fields of a client-side apply to the server-side one. */
async function takeOverFields(client: Client, { object, resource }: ManifestObject): Promise<void> {
  const key = keyOf(object);
  const live: KubeObject | undefined = await client.find(resource, key);
  const { managedFields = [], resourceVersion } = live?.metadata ?? {};
  const old = managedFields.find(({ manager, operation }) => manager === clientSide && operation === "Update");
  if (old === undefined) return;
  const own = managedFields.find(({ manager, operation, subresource = "" }) =>
    manager === fieldManager && operation === "Apply" && subresource === ""
  );
  const joined: ManagedFieldsEntry = {
    ...old,
    manager: fieldManager,
    operation: "Apply",
    fieldsV1: joinedFields(old.fieldsV1, own?.fieldsV1),
  };
  const entries = [...managedFields.filter((entry) => entry !== old && entry !== own), joined];
  const operations = [
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "replace", path: "/metadata/managedFields", value: entries },
  ] as const;
  await client.patch(resource, key, { kind: "json", operations });
}

/** The union of two sets of fields. */
function joinedFields(one: object | undefined, other: object | undefined): Record<string, object> {
  const fields = new Map<string, object>(Object.entries(one ?? {}));
  for (const [name, value] of Object.entries(other ?? {})) {
    const known = fields.get(name);
    fields.set(name, isJsonObject(known) && isJsonObject(value) ? joinedFields(known, value) : value);
  }
  return Object.fromEntries(fields);
}
