/** bootstrapRbac(): the roles and bindings that every cluster has from its first moment. */
import type { JsonObject } from "../model/mod.ts";
import { bootstrapRbacText } from "./_bootstrap_rbac_data.ts";

/** An object that is made without a request. */
type Bootstrapped = JsonObject & {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
};

/**
 * ClusterRoles, Roles and their bindings, complete but for what the storage adds.
 *
 * @param seal gives an object what a server adds to its metadata
 * @returns the collection and the object of each; parsed anew each time
 */
export function bootstrapRbac(
  seal: () => JsonObject,
): readonly (readonly [collection: string, object: Bootstrapped])[] {
  const objects: readonly Bootstrapped[] = JSON.parse(bootstrapRbacText);
  return objects.map((object) => {
    const collection = `${object.kind.toLowerCase()}s.rbac.authorization.k8s.io`;
    return [collection, { ...object, metadata: { ...object.metadata, ...seal() } }];
  });
}
