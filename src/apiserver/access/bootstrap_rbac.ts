/** The roles and bindings that every new cluster has. */
import type { JsonObject } from "../model/mod.ts";
import { bootstrapRbacText } from "./generated/bootstrap_rbac_data.ts";

/** An object that the server creates without a request. */
type Bootstrapped = JsonObject & {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
};

/**
 * The ClusterRoles, Roles and bindings that every new cluster has.
 *
 * @param systemMetadata returns the metadata that a server adds to a new object
 * @returns the collection and the object of each; new objects on each call
 */
export function bootstrapRbac(
  systemMetadata: () => JsonObject,
): readonly (readonly [collection: string, object: Bootstrapped])[] {
  const objects: readonly Bootstrapped[] = JSON.parse(bootstrapRbacText);
  return objects.map((object) => {
    const collection = `${object.kind.toLowerCase()}s.rbac.authorization.k8s.io`;
    return [collection, { ...object, metadata: { ...object.metadata, ...systemMetadata() } }];
  });
}
