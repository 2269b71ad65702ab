/**
 * Exit codes, and which error has which: the whole of behaviours.md 84 in one file.
 *
 * An error is looked at together with what caused it, since layers in between add their own sentence: the first one in
 * the chain that is known decides. What nobody knows is our own fault, 70.
 */
/* MERGED command_error.ts  CommandError: a command cannot do what it should, and knows the exit code and what its user can do about it. */
import { ApiError, isForbidden, isUnauthorized, isUnreachable, KubeconfigError } from "../../client/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** What a program's end means. Scripts depend on these numbers; they do not change. */
export const exitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  kubeconfig: 3,
  permission: 4,
  unreachable: 5,
  crdMissing: 6,
  leaseLost: 7,
  portInUse: 8,
  internal: 70,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The codes with their meanings, for help. */
export const exitCodeList: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: exitCode.done, meaning: "done, or ended by a signal after finishing what ran" },
  { code: exitCode.failed, meaning: "refused, out of time, not all reconciled, or ended by a second signal" },
  { code: exitCode.usage, meaning: "the command line makes no sense" },
  { code: exitCode.kubeconfig, meaning: "no kubeconfig, a bad one, or an unknown context" },
  { code: exitCode.permission, meaning: "credentials refused, or a permission is missing (401, 403)" },
  { code: exitCode.unreachable, meaning: "the server cannot be reached, or cannot be trusted" },
  { code: exitCode.crdMissing, meaning: "a custom resource definition is not installed" },
  { code: exitCode.leaseLost, meaning: "another replica became the leader" },
  { code: exitCode.portInUse, meaning: "a port is in use" },
  { code: exitCode.internal, meaning: "a defect of this program" },
];

/** An error as its user sees it. */
export interface Failure {
  readonly code: ExitCode;
  /** `Cannot <action> <object>: <state>`. */
  readonly message: string;
  /** What to do next. */
  readonly advice: string | undefined;
}

/** Finds out what `error` is. */
export function failureOf(error: unknown): Failure {
  for (const link of chainOf(error)) {
    const failure = knownFailure(link);
    if (failure !== undefined) return failure;
  }
  const text = error instanceof Error ? error.message : String(error);
  const message = text.startsWith("Cannot ") ? text : `Cannot go on: ${text || "an error without a message"}`;
  return { code: exitCode.internal, message, advice: "This is a defect: -v shows where" };
}

function knownFailure(error: unknown): Failure | undefined {
  if (error instanceof CommandError) return error;
  if (error instanceof UsageError) return { code: exitCode.usage, message: error.message, advice: error.advice };
  if (error instanceof KubeconfigError) {
    return { code: exitCode.kubeconfig, message: error.message, advice: undefined }; // it says what to do itself
  }
  if (isUnauthorized(error)) return refused(error, "Check the credentials of the kubeconfig's user");
  if (isForbidden(error)) return refused(error, "Ask for the permission, or use another user");
  if (error instanceof ApiError) return { code: exitCode.failed, message: error.message, advice: undefined };
  if (isUnreachable(error)) return { code: exitCode.unreachable, message: error.message, advice: error.hint };
  if (error instanceof Error && isFileError(error.cause)) {
    return { code: exitCode.failed, message: error.message, advice: undefined };
  }
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return { code: exitCode.portInUse, message: `Cannot listen: ${error.message}`, advice: "Choose another port" };
  }
  return undefined;
}

const fileErrors: ReadonlySet<unknown> = new Set([
  "EACCES",
  "EDQUOT",
  "EISDIR",
  "ENOENT",
  "ENOSPC",
  "ENOTDIR",
  "EPERM",
  "EROFS",
]);

/** True for what the system says of files: somebody's disk, and no defect of ours. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && "code" in error && fileErrors.has(error.code);
}

function refused(error: ApiError, advice: string): Failure {
  return { code: exitCode.permission, message: error.message, advice };
}

/** The error, what it stands for when it is several, and what caused it; bounded, since causes may form a ring. */
function* chainOf(error: unknown): Generator<unknown> {
  let link = error;
  for (let depth = 0; depth < 16 && link !== undefined; depth++) {
    yield link;
    if (link instanceof AggregateError && link.errors.length > 0) link = link.errors[0];
    else link = link instanceof Error ? link.cause : undefined;
  }
}

/** Options of a {@link CommandError}. */
interface CommandErrorOptions {
  readonly code: ExitCode;
  /** One sentence on what to do next, without a period. */
  readonly advice?: string;
  readonly cause?: unknown;
}

/** An error that is explained already. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: ExitCode;
  readonly advice: string | undefined;

  constructor(message: string, options: CommandErrorOptions) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.advice = options.advice;
  }
}
