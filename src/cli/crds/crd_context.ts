/**
 * What the steps of `install-crds` and `uninstall-crds` share: the selected definitions, reads of definitions and of stored
 * objects, and the errors.
 *
 * Guarantees: a 403 becomes an error that contains the missing RBAC rule.
 */
import { type KubeObject, PageTokens, type Resource, resourceName } from "../../api/mod.ts";
import { isForbidden, isGone } from "../../client/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { type Call, CommandError, crdsOf, exitCode, selectOrAll, type Session } from "../command/mod.ts";
import type { Connection } from "../connection/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";

/** The cluster and the session of a command. */
export interface CrdContext {
  readonly connection: Connection;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/**
 * Returns the live definition.
 *
 * @param verbs Further verbs that the command needs, to name in the error for a 403
 */
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

/** The permission that a request needs. */
interface RequiredPermission {
  readonly resource: { readonly group: string; readonly plural: string };
  readonly verbs: readonly string[];
  /** `status`. @default the object itself */
  readonly subresource?: string;
}

/** Sends a request. @throws CommandError with the missing RBAC rule for a 403 */
export async function withPermissionAdvice<T>(rule: RequiredPermission, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw isForbidden(error) ? permissionError(rule, error) : error;
  }
}

/** Returns the error for a missing permission, with the RBAC rule as advice. */
export function permissionError({ resource, verbs, subresource }: RequiredPermission, cause: Error): CommandError {
  const plural = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  const text = `apiGroups: ["${resource.group}"], resources: ["${plural}"], verbs: [${verbs.map(quoted).join(", ")}]`;
  return new CommandError(cause.message, {
    code: exitCode.permission,
    advice: `The user needs a ClusterRole with: ${text}`,
    cause,
  });
}

/** The name of a definition in messages: `foos.example.dev`. */
export function definitionName(crd: Pick<Crd | StoredCrd, "spec">): string {
  const { group, names: { plural } } = crd.spec;
  return resourceName({ group, plural });
}

/** Returns the error of a step that failed for another reason than the command line or a permission. */
export function commandFailure(message: string, advice?: string, cause?: unknown): CommandError {
  return new CommandError(message, { code: exitCode.failed, advice, cause });
}

function quoted(text: string): string {
  return `"${text}"`;
}

/** Returns the named controllers, or all; says so if they define no kinds. @throws UsageError when a controller is unknown */
export function controllersOf(
  { positionals, session }: Pick<Call<unknown>, "positionals" | "session">,
): readonly OperatorController[] {
  const controllers = selectOrAll(session.operator, positionals);
  if (crdsOf(controllers).length === 0) session.info("nothing to do: these controllers define no custom resources");
  return controllers;
}

/** A kind that is only known from its definition. */
export type StoredKind = Resource<KubeObject>;

/** Objects per request. */
const pageSize = 500;

/** Returns the name of the storage version: the one that objects are written to etcd in. */
export function storageVersionOf(crd: Pick<StoredCrd, "spec">): string {
  return crd.spec.versions.find(({ storage }) => storage)?.name ?? "";
}

/** Returns the kind in its storage version, else in another served version; undefined when no version is served. */
export function storedKindOf(crd: Pick<StoredCrd, "spec">): StoredKind | undefined {
  const { group, scope, versions, names: { kind, plural } } = crd.spec;
  const version = versions.find(({ storage, served }) => storage && served) ?? versions.find(({ served }) => served);
  return version === undefined ? undefined : { group, version: version.name, kind, plural, scope };
}

/** Options of {@link storedObjects}. */
interface StoredObjectsOptions {
  /** Reads apiVersion, kind and metadata only. @default false */
  readonly metadataOnly?: boolean;
  /** @default all, or the kind has no namespaces */
  readonly namespace?: string | undefined;
}

/**
 * Lists the objects of a kind, page by page. When the continue token expires, the list starts again: an object can then be
 * returned twice, and none is missed.
 */
export async function* storedObjects(
  { connection, signal }: CrdContext,
  resource: StoredKind,
  options: StoredObjectsOptions = {},
): AsyncGenerator<readonly KubeObject[], void, void> {
  const { metadataOnly = false, namespace } = options;
  let tokens = new PageTokens();
  for (let next: string | undefined = "";;) {
    const page = await withPermissionAdvice({ resource, verbs: ["get", "list"] }, async () => {
      const token = next === "" ? undefined : next;
      try {
        return await connection.client.list(resource, {
          metadataOnly,
          namespace,
          limit: pageSize,
          continue: token,
          signal,
        });
      } catch (error) {
        if (token === undefined || !isGone(error)) throw error;
        return undefined;
      }
    });
    if (page === undefined) {
      next = "";
      tokens = new PageTokens();
      continue;
    }
    yield page.items;
    next = tokens.after(page);
    if (next === undefined) return;
  }
}
