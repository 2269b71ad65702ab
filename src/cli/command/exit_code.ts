/**
 * Exit codes, and which error leads to which code (behaviour 84).
 *
 * Guarantees: an error is classified together with its causes, because layers in between add a sentence of their own: the
 * first known error in the chain decides. An unknown error is a defect of this program, 70.
 */
import {
  ApiError,
  InvalidResponseError,
  isForbidden,
  isUnauthorized,
  isUnreachable,
  KubeconfigError,
} from "../../client/mod.ts";
import { errorText } from "../../observe/mod.ts";
import { ListenError } from "../../runtime/mod.ts";
import { UsageError } from "../flags/mod.ts";

/**
 * The exit codes of {@link operatorCli}. Scripts depend on these numbers; they do not change.
 *
 * @example
 * ```ts
 * import { exitCode, operatorCli } from "@pintle/controller";
 *
 * const silent = { write: () => true };
 * const code = await operatorCli({ name: "my-operator", controllers: [] }, { args: ["walk"], stderr: silent });
 * console.assert(code === exitCode.usage);
 * ```
 */
export const exitCode: {
  /** Success, or ended by a signal after running reconciles finished. */
  readonly done: 0;
  /** Rejected, timed out, not everything reconciled, or ended by a second signal. */
  readonly failed: 1;
  /** The command line is invalid; that of `plan`, `replay` and `conformance` is 1. */
  readonly usage: 2;
  /** Of `plan`: the controllers would change something. Of `replay`: they write something else than was recorded. Of `conformance`: servers differ. */
  readonly changes: 2;
  /** The kubeconfig is missing or invalid, or the context is unknown. */
  readonly kubeconfig: 3;
  /** The credentials are rejected, or a permission is missing. */
  readonly permission: 4;
  /** The API server cannot be reached, or its certificate is not trusted. */
  readonly unreachable: 5;
  /** A custom resource definition is not installed. */
  readonly crdMissing: 6;
  /** Another replica became the leader. */
  readonly leaseLost: 7;
  /** A port is in use. */
  readonly portInUse: 8;
  /** A defect of this program. */
  readonly internal: 70;
} = {
  done: 0,
  failed: 1,
  usage: 2,
  changes: 2,
  kubeconfig: 3,
  permission: 4,
  unreachable: 5,
  crdMissing: 6,
  leaseLost: 7,
  portInUse: 8,
  internal: 70,
};

/** One of the numbers of {@link exitCode}. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The codes with their meanings, for help. */
export const exitCodeList: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: exitCode.done, meaning: "success, or ended by a signal after running reconciles finished" },
  { code: exitCode.failed, meaning: "rejected, timed out, not everything reconciled, or ended by a second signal" },
  {
    code: exitCode.usage,
    meaning: "the command line is invalid; of plan: there are changes; of replay and conformance: something differs",
  },
  { code: exitCode.kubeconfig, meaning: "the kubeconfig is missing or invalid, or the context is unknown" },
  { code: exitCode.permission, meaning: "the credentials are rejected, or a permission is missing (401, 403)" },
  { code: exitCode.unreachable, meaning: "the API server cannot be reached, or its certificate is not trusted" },
  { code: exitCode.crdMissing, meaning: "a custom resource definition is not installed" },
  { code: exitCode.leaseLost, meaning: "another replica became the leader" },
  { code: exitCode.portInUse, meaning: "a port is in use" },
  { code: exitCode.internal, meaning: "a defect of this program" },
];

/** A command failed for a known reason: the error carries its exit code and its advice. */
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

/** Options of a {@link CommandError}. */
interface CommandErrorOptions {
  readonly code: ExitCode;
  /** One sentence on what to do next, without a full stop. */
  readonly advice?: string;
  readonly cause?: unknown;
}

/** An error as the user sees it. */
export interface Failure {
  readonly code: ExitCode;
  /** `Cannot <action> <object>: <state>`. */
  readonly message: string;
  /** What to do next. */
  readonly advice: string | undefined;
}

/** Classifies an error. */
export function failureOf(error: unknown): Failure {
  for (const link of chainOf(error)) {
    const failure = knownFailure(link);
    if (failure !== undefined) return failure;
  }
  const text = error instanceof Error ? error.message : errorText(error);
  return {
    code: exitCode.internal,
    message: withGrammar(text),
    advice: "This is a defect of the program: -v shows the stack trace",
  };
}

function knownFailure(error: unknown): Failure | undefined {
  // A copy: callers change the code of a usage error by spreading, which leaves out the message of an Error.
  if (error instanceof CommandError) return { code: error.code, message: error.message, advice: error.advice };
  if (error instanceof UsageError) return { code: exitCode.usage, message: error.message, advice: error.advice };
  if (error instanceof KubeconfigError) {
    return { code: exitCode.kubeconfig, message: error.message, advice: undefined }; // the message contains the advice
  }
  if (isUnauthorized(error)) return permissionFailure(error, "Check the credentials of the kubeconfig's user");
  if (isForbidden(error)) return permissionFailure(error, "Ask for the permission, or use another user");
  if (error instanceof ApiError) return { code: exitCode.failed, message: error.message, advice: undefined };
  if (error instanceof InvalidResponseError) {
    return {
      code: exitCode.failed,
      message: error.message,
      advice: "Check whether the address is that of an API server",
    };
  }
  if (isUnreachable(error)) return { code: exitCode.unreachable, message: error.message, advice: error.hint };
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    return { code: exitCode.portInUse, message: `Cannot listen: ${error.message}`, advice: "Choose another port" };
  }
  if (error instanceof Error && (error instanceof ListenError || isSystemError(error) || isSystemError(error.cause))) {
    return { code: exitCode.failed, message: withGrammar(error.message), advice: undefined };
  }
  return undefined;
}

/** What the machine answers about files, devices and limits. A code that only a defect leads to, as EBADF, is not here. */
const systemErrors: ReadonlySet<unknown> = new Set([
  ...["EACCES", "EADDRNOTAVAIL", "EAGAIN", "EBUSY", "EDQUOT", "EEXIST", "EFBIG", "EINVAL", "EIO", "EISDIR", "ELOOP"],
  ...["EMFILE", "EMLINK", "ENAMETOOLONG", "ENFILE", "ENODEV", "ENOENT", "ENOMEM", "ENOSPC", "ENOTDIR", "ENOTEMPTY"],
  ...["ENOTSUP", "ENXIO", "EPERM", "EROFS", "ETXTBSY", "EXDEV"],
]);

/** True for an error of the machine, such as a full disk: not a defect of this program. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && systemErrors.has(error.code);
}

function withGrammar(text: string): string {
  return text.startsWith("Cannot ") ? text : `Cannot continue: ${text || "an error without a message"}`;
}

function permissionFailure(error: ApiError, advice: string): Failure {
  return { code: exitCode.permission, message: error.message, advice };
}

/** The error and its causes; of several errors the first one. Bounded, because causes can form a cycle. */
function* chainOf(error: unknown): Generator<unknown> {
  let link = error;
  for (let depth = 0; depth < 16 && link !== undefined; depth++) {
    yield link;
    if (link instanceof AggregateError && link.errors.length > 0) link = link.errors[0];
    else link = link instanceof Error ? link.cause : undefined;
  }
}
