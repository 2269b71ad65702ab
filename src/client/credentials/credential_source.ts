/**
 * CredentialSource: the current credential of a cluster. It reads a token file again every 60 s minus 10 s, runs a plugin
 * again when its credentials expire, and does either at once after the API server has rejected them (behaviours 76, 77).
 *
 * Guarantees: however many requests wait, the file is read once and the plugin runs once; an aborted request does not
 * stop it for the others.
 */
import { type Clock, untilAborted } from "../../async/mod.ts";
import { type Logger, printable } from "../../observe/mod.ts";
import { type Environment, readText, toBase64 } from "../../runtime/mod.ts";
import { type ClusterAccess, CredentialsError, Masked } from "../kubeconfig/mod.ts";
import { bearer, type Credential, type ExpiringCredential } from "./credential.ts";
import { type ExecPolicy, runExecPlugin } from "./exec_plugin.ts";
import { OidcTokens } from "./oidc.ts";

/** Provides the credential for each request. */
export interface CredentialSource {
  /** The credential to use now. @throws CredentialsError when there is none; the reason of the signal. */
  current(signal: AbortSignal): Promise<Credential>;
  /**
   * Reports that the API server rejected `used`. The next call of `current` renews the credential, unless it was renewed
   * since.
   */
  reject(used: Credential): void;
}

/** Options of {@link credentialSource}. */
export interface CredentialSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly environment: Environment;
  readonly execPolicy: ExecPolicy;
}

/** The source for the credentials of `access`. */
export function credentialSource(access: ClusterAccess, options: CredentialSourceOptions): CredentialSource {
  const { credentials } = access;
  switch (credentials.kind) {
    case "none":
      return constantSource(undefined);
    case "token":
      return constantSource(bearer(credentials.token.reveal()));
    case "basic":
      return constantSource(basic(credentials.username, credentials.password.reveal()));
    case "tokenFile":
      return new RenewingSource((signal) => readTokenFile(credentials.path, options.clock, signal), options);
    case "exec":
      return new RenewingSource((signal) => runExecPlugin(access, credentials.plugin, { ...options, signal }), options);
    case "oidc": {
      const tokens = new OidcTokens(credentials.provider, options);
      return new RenewingSource((signal) => tokens.renew(signal), options);
    }
    default:
      return credentials satisfies never;
  }
}

function basic(username: string, password: string): Masked {
  return new Masked(`Basic ${toBase64(`${username}:${password}`)}`);
}

function constantSource(authorization: Masked | undefined): CredentialSource {
  const credential = Promise.resolve({ authorization, certificate: undefined });
  return { current: () => credential, reject: () => {} };
}

/** A renewal is not aborted, because it belongs to all requests that wait for it. */
const never = new AbortController().signal;

/** A credential that expires, or that the API server may reject. */
class RenewingSource implements CredentialSource {
  readonly #renew: (signal: AbortSignal) => Promise<ExpiringCredential>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #credential: ExpiringCredential | undefined;
  #isRejected = false;
  #renewal: Promise<ExpiringCredential> | undefined;

  constructor(renew: (signal: AbortSignal) => Promise<ExpiringCredential>, options: CredentialSourceOptions) {
    this.#renew = renew;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    if (this.#credential !== undefined && !this.#isRejected && this.#isValid(this.#credential)) return this.#credential;
    this.#renewal ??= this.#startRenewal();
    return await untilAborted(this.#renewal, signal);
  }

  reject(used: Credential): void {
    if (used === this.#credential) this.#isRejected = true;
  }

  #isValid(credential: ExpiringCredential): boolean {
    return credential.validUntil === undefined || this.#clock.monotonic() < credential.validUntil;
  }

  async #startRenewal(): Promise<ExpiringCredential> {
    try {
      const renewed = await this.#renew(never);
      const isSame = this.#credential !== undefined && equal(this.#credential, renewed);
      // An unchanged credential stays the same object, so that a rejected request can see that a retry is useless.
      if (this.#credential !== undefined && isSame) {
        Object.assign(this.#credential, { validUntil: renewed.validUntil });
      } else this.#credential = renewed;
      this.#isRejected = false;
      return this.#credential ?? renewed;
    } catch (error) {
      // A token that still works is better than none while its file is being replaced.
      if (this.#credential === undefined || this.#isRejected) throw error;
      this.#logger.warn("renewing credentials failed, using the old ones", {
        error: printable(error instanceof Error ? error.message : String(error)),
      });
      return this.#credential;
    } finally {
      this.#renewal = undefined;
    }
  }
}

function equal(left: Credential, right: Credential): boolean {
  return left.authorization?.reveal() === right.authorization?.reveal() &&
    left.certificate?.cert === right.certificate?.cert &&
    left.certificate?.key.reveal() === right.certificate?.key.reveal();
}

/** 60 s minus 10 s, as cachingTokenSource in client-go. The kubelet replaces a token at 80 % of its lifetime. */
const tokenFileMs = 50_000;

async function readTokenFile(path: string, clock: Clock, signal: AbortSignal): Promise<ExpiringCredential> {
  signal.throwIfAborted();
  let text: string;
  try {
    text = await readText(path, { maxBytes: 1024 * 1024, isRegular: true });
  } catch (cause) {
    throw new CredentialsError(`Cannot read token file "${path}": ${printable(String(cause))}`, { cause });
  }
  const token = text.trim();
  if (token === "") throw new CredentialsError(`Cannot read token file "${path}": it is empty`);
  return { authorization: bearer(token), certificate: undefined, validUntil: clock.monotonic() + tokenFileMs };
}
