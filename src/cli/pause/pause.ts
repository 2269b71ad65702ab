/**
 * `pause` and `resume`: set and remove the annotation that keeps controllers from reconciling an object.
 *
 * Guarantees: one merge patch of that annotation, as the user of the kubeconfig; nothing is sent for an object that is in
 * the wanted state already.
 */
import { z } from "zod";
import { type KubeObject, type ObjectKey, objectKey, type Resource, resourceName, splitKey } from "../../api/mod.ts";
import { isForbidden, isNotFound } from "../../client/mod.ts";
import { pausedAnnotation, pausedWithDeletion } from "../../controller/mod.ts";
import { findSubject } from "../../explain/mod.ts";
import { knownController } from "../../manager/mod.ts";
import {
  type Call,
  CommandError,
  type CompletionWord,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  type Operator,
  type Session,
  subcommand,
} from "../command/mod.ts";
import { connect, type Connection, connectionFlags, permissionAdvice, waitForServer } from "../connection/mod.ts";
import { commandLineOnly, flag, UsageError } from "../flags/mod.ts";

const pauseFlags = z.object({
  withDeletion: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--with-deletion",
    about: "a deletion of the object waits, too: its finalizers stay until it is resumed",
  }),
  ...connectionFlags.shape,
});

const positionals = {
  syntax: "<object...>",
  about: "KIND [NAMESPACE/]NAME of a reconciled object; the kind as kubectl takes it: foos, Foo, foos.example.dev",
  words: ({ controllers }: Operator, typed: readonly string[]): readonly CompletionWord[] =>
    typed.length > 0
      ? []
      : controllers.map(({ name, primary }) => ({ value: resourceName(primary), about: `reconciled by ${name}` })),
};

/** The command that sets the annotation. */
export const pause = subcommand({
  description: [
    `Sets the annotation ${pausedAnnotation} of an object: from then on, the controllers do not reconcile it, and a kind`,
    "with conditions gets the condition Paused. A reconcile that runs finishes. If the object is deleted, it is cleaned up",
    "as always, unless --with-deletion is given.",
  ].join(" "),
  positionals,
  examples: [
    { line: "deploy default/web", about: "repair by hand what belongs to this Deployment" },
    { line: "deploy web -n default --with-deletion", about: "and keep it even if it is deleted" },
  ],
  flags: pauseFlags,
  run: (call) => annotate(call, call.flags.withDeletion ? pausedWithDeletion : "true"),
});

/** The command that removes the annotation. */
export const resume = subcommand({
  description: `Removes the annotation ${pausedAnnotation} of an object: the controllers reconcile it at once.`,
  positionals,
  examples: [{ line: "deploy default/web", about: "reconcile it again" }],
  flags: z.object(connectionFlags.shape),
  run: (call) => annotate(call, undefined),
});

/** @param value of the annotation; undefined to remove it */
async function annotate(call: Call<z.output<typeof connectionFlags>>, value: string | undefined): Promise<ExitCode> {
  const { flags, session, positionals } = call;
  using connection = await connect(flags, session);
  const target = targetOf(positionals, session.operator, flags.namespace ?? connection.namespace);
  const { clock, random } = session.processEnvironment;
  using interrupts = listenForInterrupts(session);
  const signal = interrupts.stop;
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const title = `${resourceName(target.resource)} "${target.key}"`;
  const changed = await withAdvice(
    target,
    connection,
    () => setAnnotation(target, value, { connection, session, signal }),
  );
  const state = value === undefined ? "resumed" : value === pausedWithDeletion ? "paused, also its deletion" : "paused";
  session.print(changed ? `${title} ${state}` : `${title} is ${value === undefined ? "not paused" : "paused already"}`);
  return exitCode.done;
}

/** @returns False when the object is in the wanted state already. */
async function setAnnotation(
  { resource, key }: Target,
  value: string | undefined,
  { connection, session, signal }: {
    readonly connection: Connection;
    readonly session: Session;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { metadata } = await connection.client.get(resource, key, { signal });
  if (metadata.annotations?.[pausedAnnotation] === value) return false;
  const patch = { metadata: { uid: metadata.uid, annotations: { [pausedAnnotation]: value ?? null } } };
  const options = { fieldManager: session.operator.name, signal };
  await connection.client.patch(resource, key, { kind: "merge", value: patch }, options);
  return true;
}

/** The object that is meant. */
interface Target {
  readonly resource: Resource<KubeObject>;
  readonly key: ObjectKey;
}

/** Only primary kinds can be paused: nothing reconciles the others. @throws UsageError for other words than a kind and a name */
function targetOf(words: readonly string[], operator: Operator, namespace: string): Target {
  const [kind = "", name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new UsageError(
      `Cannot find "${words.join(" ")}": it is not a kind and a name`,
      `Example: ${operator.name} pause deploy default/web`,
    );
  }
  const known = operator.controllers.map(knownController).map((one) => ({ ...one, watched: [] }));
  const found = findSubject({ kind, name, namespace }, [], known);
  if (found.kind === "unknown") {
    const problem = found.isKind ? "no controller of this program reconciles the kind" : found.problem;
    throw new UsageError(`Cannot find ${kind} "${name}": ${problem}`, found.advice);
  }
  const { subject } = found;
  const primary = operator.controllers.map((one) => one.primary).find((one) => resourceName(one) === subject.resource);
  if (primary === undefined) throw new UsageError(`Cannot find ${kind} "${name}": no controller reconciles the kind`);
  const { group, version, plural, scope } = primary;
  return { resource: { group, version, kind: primary.kind, plural, scope }, key: objectKey(splitKey(subject.key)) };
}

/** Runs requests. @throws CommandError that says what to do about a missing object, and a missing permission */
async function withAdvice<T>({ resource, key }: Target, { server }: Connection, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (isForbidden(error)) {
      const advice = permissionAdvice(resource, ["get", "patch"], splitKey(key).namespace);
      throw new CommandError(error.message, { code: exitCode.permission, advice, cause: error });
    }
    if (!isNotFound(error)) throw error;
    throw new CommandError(`Cannot find ${resourceName(resource)} "${key}": ${server} has none`, {
      code: exitCode.failed,
      advice: "Compare the namespace and the name with kubectl get",
      cause: error,
    });
  }
}
