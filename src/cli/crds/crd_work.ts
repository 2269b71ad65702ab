/** CrdWork: what all steps of `install-crds` and `uninstall-crds` share, and how their messages name things. */
import { resourceName } from "../../api/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { CommandError } from "../command_error.ts";
import type { Connection } from "../connection.ts";
import { exitCode } from "../exit_code.ts";
import type { Session } from "../session.ts";

/** Where and for whom definitions are worked on. */
export interface CrdWork {
  readonly connection: Connection;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** The definition as the cluster has it. @param verbs What is done with it besides: what a 403 shall name */
export async function readCrd(
  { connection, signal }: CrdWork,
  name: string,
  verbs: readonly string[] = ["create", "patch"],
): Promise<StoredCrd | undefined> {
  return await asking(
    { resource: CrdResource, verbs: ["get", ...verbs] },
    () => connection.client.find(CrdResource, name, { signal }),
  );
}

/** What a request needs. */
export interface NeededRule {
  readonly resource: { readonly group: string; readonly plural: string };
  readonly verbs: readonly string[];
  /** `status`. @default the object itself */
  readonly subresource?: string;
}

/** Makes a request, and turns a 403 into the rule that is missing. @throws CommandError with the code of permissions */
export async function asking<T>(rule: NeededRule, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw isForbidden(error) ? missingRule(rule, error) : error;
  }
}

/** Says which rule a user lacks. */
export function missingRule({ resource, verbs, subresource }: NeededRule, cause: Error): CommandError {
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
export function failedCommand(message: string, advice?: string, cause?: unknown): CommandError {
  return new CommandError(message, { code: exitCode.failed, advice, cause });
}

/** `1 object`, `12 objects`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

function quoted(text: string): string {
  return `"${text}"`;
}
