/** CrdContext: what all steps of `install-crds` and `uninstall-crds` share, and how their messages name things. */
/* MERGED crds/chosen_crds.ts  Which definitions a command is about: those of the controllers that are named, or of all. */
/* MERGED crds/stored_objects.ts  The objects of a kind that a cluster has stored, page by page, by what its definition there says. */
import { type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { isForbidden, isGone } from "../../client/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { type Call, CommandError, crdsOf, exitCode, selectControllers, type Session } from "../command/mod.ts";
import type { Connection } from "../connection/mod.ts";

/** Where and for whom definitions are worked on. */
export interface CrdContext {
  readonly connection: Connection;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** The definition as the cluster has it. @param verbs What is done with it besides: what a 403 shall name */
export async function readCrd(
  { connection, signal }: CrdContext,
  name: string,
  verbs: readonly string[] = ["create", "patch"],
): Promise<StoredCrd | undefined> {
  return await withPermissionAdvice(
    { resource: CrdResource, verbs: ["get", ...verbs] },
    () => connection.client.find(CrdResource, name, { signal }),
  );
}

/** What a request needs. */
interface RequiredPermission {
  readonly resource: { readonly group: string; readonly plural: string };
  readonly verbs: readonly string[];
  /** `status`. @default the object itself */
  readonly subresource?: string;
}

/** Makes a request, and turns a 403 into the rule that is missing. @throws CommandError with the code of permissions */
export async function withPermissionAdvice<T>(rule: RequiredPermission, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw isForbidden(error) ? permissionError(rule, error) : error;
  }
}

/** Says which rule a user lacks. */
export function permissionError({ resource, verbs, subresource }: RequiredPermission, cause: Error): CommandError {
  const plural = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  const text = `apiGroups: ["${resource.group}"], resources: ["${plural}"], verbs: [${verbs.map(quoted).join(", ")}]`;
  return new CommandError(cause.message, {
    code: exitCode.permission,
    advice: `Be a user who has a ClusterRole with: ${text}`,
    cause,
  });
}

/** How messages name the definition of a kind. */
export function nameOf(crd: Pick<Crd | StoredCrd, "spec">): string {
  const { group, names: { plural } } = crd.spec;
  return resourceName({ group, plural });
}

/** A step cannot be done; nothing is wrong with the command line or the permissions. */
export function commandFailure(message: string, advice?: string, cause?: unknown): CommandError {
  return new CommandError(message, { code: exitCode.failed, advice, cause });
}

function quoted(text: string): string {
  return `"${text}"`;
}

/** The definitions. @throws UsageError when a controller is not known */
export function selectCrds({ words, session }: Pick<Call<unknown>, "words" | "session">): readonly Crd[] {
  const { operator } = session;
  const controllers = words.length === 0 ? operator.controllers : selectControllers(operator, words);
  const crds = crdsOf(controllers);
  if (crds.length === 0) session.say("nothing to do: these controllers define no kinds of their own");
  return crds;
}

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
interface StoredObjectsOptions {
  /** Reads apiVersion, kind and metadata only. @default false */
  readonly metadataOnly?: boolean;
}

/**
 * Reads all objects of a kind. Where reading takes longer than the server remembers its snapshot, it begins again: an
 * object may come twice, none is missed.
 */
export async function* storedObjects(
  { connection, signal }: CrdContext,
  resource: StoredKind,
  options: StoredObjectsOptions = {},
): AsyncGenerator<readonly KubeObject[], void, void> {
  const { metadataOnly = false } = options;
  for (let next: string | undefined = "";;) {
    const page = await withPermissionAdvice({ resource, verbs: ["get", "list"] }, async () => {
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
