/** InvalidObjectError: what `parse()` of a kind throws. */

/**
 * A value is not an object of a kind: its fields have other types, or a rule of the kind forbids them. A reconciler that
 * throws it about its own object is not called again until the object changes.
 *
 * @example
 * ```ts
 * import { defineResource, InvalidObjectError, z } from "@pintle/controller";
 *
 * const Site = defineResource({
 *   ...{ group: "example.dev", version: "v1", kind: "Site", scope: "Namespaced" },
 *   spec: z.object({ host: z.string() }),
 * });
 * try {
 *   Site.parse({ apiVersion: "example.dev/v1", kind: "Site", metadata: { name: "a" }, spec: { host: 1 } });
 * } catch (error) {
 *   console.assert(error instanceof InvalidObjectError && error.kind === "Site");
 * }
 * ```
 */
export class InvalidObjectError extends TypeError {
  /** The name of the class. */
  override readonly name = "InvalidObjectError";
  /** The kind that was expected. */
  readonly kind: string;
  /** The UID of the value; undefined if it has none. */
  readonly uid: string | undefined;

  /** Creates the error. */
  constructor(message: string, { kind, uid }: { readonly kind: string; readonly uid: string | undefined }) {
    super(message);
    this.kind = kind;
    this.uid = uid;
  }
}
