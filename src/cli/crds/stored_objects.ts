/** The objects of a kind that a cluster has stored, page by page, by what its definition there says. */
import type { KubeObject, Resource } from "../../api/mod.ts";
import { isGone } from "../../client/mod.ts";
import type { StoredCrd } from "../../schema/mod.ts";
import { asking, type CrdWork } from "./crd_work.ts";

/** A kind that is known from its definition alone. */
export type StoredKind = Resource<KubeObject>;

/** How many objects one request brings. */
const pageSize = 500;

/** The name of the version in which objects are written to etcd. */
export function storageVersionOf(crd: Pick<StoredCrd, "spec">): string {
  return crd.spec.versions.find(({ storage }) => storage)?.name ?? "";
}

/** The kind in the version that is nearest to what is stored; undefined when the server serves none. */
export function storedKindOf(crd: Pick<StoredCrd, "spec">): StoredKind | undefined {
  const { group, scope, versions, names: { kind, plural } } = crd.spec;
  const version = versions.find(({ storage, served }) => storage && served) ?? versions.find(({ served }) => served);
  return version === undefined ? undefined : { group, version: version.name, kind, plural, scope };
}

/** Options of {@link storedObjects}. */
export interface StoredObjectsOptions {
  /** Reads apiVersion, kind and metadata only. @default false */
  readonly metadataOnly?: boolean;
}

/**
 * Reads all objects of a kind. Where reading takes longer than the server remembers its snapshot, it begins again: an
 * object may come twice, none is missed.
 */
export async function* storedObjects(
  { connection, signal }: CrdWork,
  resource: StoredKind,
  options: StoredObjectsOptions = {},
): AsyncGenerator<readonly KubeObject[], void, void> {
  const { metadataOnly = false } = options;
  for (let next: string | undefined = "";;) {
    const page = await asking({ resource, verbs: ["get", "list"] }, async () => {
      const token = next === "" ? undefined : next;
      try {
        return await connection.client.list(resource, { metadataOnly, limit: pageSize, continue: token, signal });
      } catch (error) {
        if (token === undefined || !isGone(error)) throw error;
        return undefined;
      }
    });
    if (page === undefined) {
      next = "";
      continue;
    }
    yield page.items;
    next = page.continue;
    if (next === undefined) return;
  }
}
