/**
 * CredentialSource: credentials that may change while we run, behind one question. A token of a file is read anew every
 * 60 s with 10 s to spare, a plugin runs anew when its credentials expire, and either at once after a 401
 * (behaviours.md 76, 77).
 *
 * Guarantees: however many requests wait, the file is read and the plugin run once; a waiter that leaves does not stop it.
 */
import { type Clock, untilAborted } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { type Environment, readText } from "../runtime/mod.ts";
import { authProviderToken } from "./_auth_provider.ts";
import { printable } from "./_printable.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";
import { type ExecPolicy, runExecPlugin } from "./exec_credential.ts";
import { Masked } from "./masked.ts";

/** What proves who we are, at one moment. The same value is the same object. */
export interface Provided {
  /** The Authorization header. */
  readonly authorization: Masked | undefined;
  /** A client certificate of a plugin, PEM. */
  readonly certificate: { readonly cert: string; readonly key: Masked } | undefined;
}

/** Where credentials come from. */
export interface CredentialSource {
  /** The credentials to use now. @throws CredentialsError when there are none to be had, the signal's reason. */
  current(signal: AbortSignal): Promise<Provided>;
  /** Says that `used` was refused: the next `current` asks anew, unless somebody did already. */
  refuse(used: Provided): void;
}

/** Options of {@link credentialSource}. */
export interface CredentialSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly environment: Environment;
  readonly execPolicy: ExecPolicy;
}

/** The source that fits the access. */
export function credentialSource(access: ClusterAccess, options: CredentialSourceOptions): CredentialSource {
  const { credentials } = access;
  switch (credentials.kind) {
    case "none":
      return fixed(undefined);
    case "token":
      return fixed(bearer(credentials.token.reveal()));
    case "basic":
      return fixed(basic(credentials.username, credentials.password.reveal()));
    case "tokenFile":
      return new RenewedSource((signal) => fromFile(credentials.path, options.clock, signal), options);
    case "exec":
      return new RenewedSource((signal) => runExecPlugin(access, credentials.plugin, { ...options, signal }), options);
    case "authProvider":
      return new RenewedSource(() => authProviderToken(access, credentials, options), options);
    default:
      return credentials satisfies never;
  }
}

/** The Authorization header of a token. @throws CredentialsError when it cannot stand in a header. */
export function bearer(token: string): Masked {
  // Printable ASCII: anything else is a truncated file or a wrong one, and a line break would be a header of its own.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CredentialsError("Cannot use token: it is empty or has characters that no token has");
  }
  return new Masked(`Bearer ${token}`);
}

function basic(username: string, password: string): Masked {
  return new Masked(`Basic ${new TextEncoder().encode(`${username}:${password}`).toBase64()}`);
}

function fixed(authorization: Masked | undefined): CredentialSource {
  const provided = Promise.resolve({ authorization, certificate: undefined });
  return { current: () => provided, refuse: () => {} };
}

/** Credentials and the monotonic time until which they are good; undefined for as long as nobody refuses them. */
export interface Renewal extends Provided {
  readonly goodUntil: number | undefined;
}

/** Nobody aborts a renewal: it belongs to all that wait for it. */
const never = new AbortController().signal;

/** Credentials that are asked for anew. */
class RenewedSource implements CredentialSource {
  readonly #renew: (signal: AbortSignal) => Promise<Renewal>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #held: Renewal | undefined;
  #isRefused = false;
  #renewal: Promise<Renewal> | undefined;

  constructor(renew: (signal: AbortSignal) => Promise<Renewal>, options: CredentialSourceOptions) {
    this.#renew = renew;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  async current(signal: AbortSignal): Promise<Provided> {
    if (this.#held !== undefined && !this.#isRefused && this.#isGood(this.#held)) return this.#held;
    this.#renewal ??= this.#ask();
    return await untilAborted(this.#renewal, signal);
  }

  refuse(used: Provided): void {
    if (used === this.#held) this.#isRefused = true;
  }

  #isGood(held: Renewal): boolean {
    return held.goodUntil === undefined || this.#clock.monotonic() < held.goodUntil;
  }

  async #ask(): Promise<Renewal> {
    try {
      const renewed = await this.#renew(never);
      const isSame = this.#held !== undefined && equal(this.#held, renewed);
      // The object stands for its value, so that who was refused can tell whether there is something new to try.
      if (this.#held !== undefined && isSame) Object.assign(this.#held, { goodUntil: renewed.goodUntil });
      else this.#held = renewed;
      this.#isRefused = false;
      return this.#held ?? renewed;
    } catch (error) {
      // A token that still works is better than none while its file is being replaced.
      if (this.#held === undefined || this.#isRefused) throw error;
      this.#logger.warn("credentials could not be renewed, the old ones stay in use", {
        error: printable(error instanceof Error ? error.message : String(error)),
      });
      return this.#held;
    } finally {
      this.#renewal = undefined;
    }
  }
}

function equal(left: Provided, right: Provided): boolean {
  return left.authorization?.reveal() === right.authorization?.reveal() &&
    left.certificate?.cert === right.certificate?.cert &&
    left.certificate?.key.reveal() === right.certificate?.key.reveal();
}

/** 60 s less 10 s of leeway, as client-go's cachingTokenSource. The kubelet replaces a token at 80 % of its life. */
const fileTokenMs = 50_000;

async function fromFile(path: string, clock: Clock, signal: AbortSignal): Promise<Renewal> {
  signal.throwIfAborted();
  let text: string;
  try {
    text = await readText(path, { maxBytes: 1024 * 1024 });
  } catch (cause) {
    throw new CredentialsError(`Cannot read token file "${path}": ${printable(String(cause))}`, { cause });
  }
  const token = text.trim();
  if (token === "") throw new CredentialsError(`Cannot read token file "${path}": it is empty`);
  return { authorization: bearer(token), certificate: undefined, goodUntil: clock.monotonic() + fileTokenMs };
}
