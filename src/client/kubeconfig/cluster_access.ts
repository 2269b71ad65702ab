/**
 * ClusterAccess: the address of an API server and the credentials for it, as one readonly value. loadClusterAccess()
 * makes it from a kubeconfig, the environment of a Pod and flags; clusterTransport() takes it.
 *
 * Guarantees: secrets in it are {@link Masked}, so the value can be logged (security 5).
 */
import { liveSecrets, mask } from "../../observe/mod.ts";

/** PEM text, or a file with PEM text, which may be replaced while the program runs. */
export type PemSource =
  | { readonly kind: "data"; readonly pem: Masked }
  | { readonly kind: "file"; readonly path: string };

/** A program that prints credentials (client.authentication.k8s.io). A kubeconfig that names one runs code. */
export interface ExecPlugin {
  /** The version of the protocol between the client and the program. */
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** A path, or a name to be found in $PATH. */
  readonly command: string;
  /** The arguments of the command. */
  readonly args: readonly string[];
  /** Environment variables in addition to PATH, HOME and similar ones. */
  readonly env: readonly { readonly name: string; readonly value: Masked }[];
  /** Shown to users who have not installed the program. */
  readonly installHint: string | undefined;
  /** Whether the program gets the address and the certificate authority of the cluster. */
  readonly provideClusterInfo: boolean;
  /** Whether the program may, or must, ask the user at the terminal. */
  readonly interactiveMode: "Never" | "IfAvailable" | "Always";
  /** The `client.authentication.k8s.io/exec` extension of the cluster, passed to the program unchanged. */
  readonly clusterConfig: unknown;
  /** The folder of the kubeconfig; `command` may be relative to it. */
  readonly directory: string;
}

/** The auth provider `oidc` of a user: an OpenID Connect issuer and tokens of it. */
export interface OidcProvider {
  /** The https:// URL of the issuer; undefined if the kubeconfig has none, and then the tokens cannot be renewed. */
  readonly issuer: string | undefined;
  /** The name of the client that the tokens were issued to. */
  readonly clientId: string;
  /** The secret of the client, if it has one. */
  readonly clientSecret: Masked | undefined;
  /** The token that the API server gets. */
  readonly idToken: Masked | undefined;
  /** The token that the issuer gets for a new `idToken`. */
  readonly refreshToken: Masked | undefined;
  /** The certificates that sign the certificate of the issuer; undefined for those of the system. */
  readonly certificateAuthority: PemSource | undefined;
}

/** How the client authenticates, apart from a client certificate. */
export type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "token"; readonly token: Masked }
  | { readonly kind: "tokenFile"; readonly path: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: Masked }
  | { readonly kind: "exec"; readonly plugin: ExecPlugin }
  | { readonly kind: "oidc"; readonly provider: OidcProvider };

/** The user to act as, as with `kubectl --as`. */
export interface Impersonation {
  /** The name of the user. */
  readonly user: string;
  /** The UID of the user. @default none */
  readonly uid?: string;
  /** The groups of the user. @default none; the server adds those of every user, or of every ServiceAccount */
  readonly groups?: readonly string[];
  /** Further attributes of the user, for authorizers and webhooks. @default none */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Everything that is needed to send requests to one API server as one user. `loadClusterAccess()` returns it,
 * `clusterTransport()` takes it. Secrets in it are {@link Masked}, so the value can be logged.
 */
export interface ClusterAccess {
  /** Where the value comes from. */
  readonly source:
    | { readonly kind: "kubeconfig"; readonly files: readonly string[]; readonly context: string | undefined }
    | { readonly kind: "inCluster" }
    | { readonly kind: "flags" };
  /** The URL without a slash at its end; it may have a path. */
  readonly server: string;
  /** The default namespace. */
  readonly namespace: string;
  /** The certificates that sign the certificate of the server; undefined for those of the system. */
  readonly certificateAuthority: PemSource | undefined;
  /** Accepts any certificate of the server. Whoever answers at the address can then read the credentials. */
  readonly insecureSkipTlsVerify: boolean;
  /** The name in the certificate of the server, if it differs from the host of the URL. */
  readonly serverName: string | undefined;
  /** The URL of the proxy; undefined for none. */
  readonly proxy: string | undefined;
  /** The certificate of the user and its key, if there are any. */
  readonly clientCertificate: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  /** How the client authenticates, apart from `clientCertificate`. */
  readonly credentials: Credentials;
  /** The user to act as; undefined for none. */
  readonly impersonate: Impersonation | undefined;
  /** The name of the user in the kubeconfig, for messages. */
  readonly user: string;
  /** The most milliseconds of a request, as in --request-timeout; undefined for no limit. */
  readonly requestTimeoutMs: number | undefined;
}

/** There is no configuration of a cluster, or it contradicts itself. The message says what to do. */
export class KubeconfigError extends Error {
  /** "KubeconfigError", or that of a subclass. */
  override readonly name: string = "KubeconfigError";
}

/** The token file, certificate or plugin of the configuration gives no credentials. The request was not sent. */
export class CredentialsError extends KubeconfigError {
  /** Always "CredentialsError". */
  override readonly name: string = "CredentialsError";
}

/**
 * A secret text that only `reveal()` returns. Tokens, passwords and keys are Masked from the moment they are read, so a
 * log record, an error or a printed configuration shows `[masked]`; so does a log record with a text that contains it.
 *
 * @example
 * ```ts
 * import { Masked } from "@pintle/controller/client";
 *
 * const token = new Masked("s3cret");
 * console.assert(JSON.stringify({ token }) === '{"token":"[masked]"}' && `${token}` === "[masked]");
 * console.assert(token.reveal() === "s3cret");
 * ```
 */
export class Masked {
  readonly #text: string;
  readonly #isCredential: boolean;

  /**
   * Masks a text.
   *
   * @param text The secret.
   * @param options Whether logs mask the text wherever it occurs, inside of other texts as well.
   */
  constructor(text: string, { isCredential = true }: { readonly isCredential?: boolean } = {}) {
    this.#text = text;
    this.#isCredential = isCredential;
    if (isCredential) liveSecrets.add(text);
  }

  /** The secret text. Use it in a request and nowhere else. */
  reveal(): string {
    // A credential that is in use is not forgotten.
    if (this.#isCredential) liveSecrets.add(this.#text);
    return this.#text;
  }

  /** Returns `[masked]`. */
  toString(): string {
    return mask;
  }

  /** Returns `[masked]`, for `JSON.stringify`. */
  toJSON(): string {
    return mask;
  }

  /** `console.log` of Bun and Node uses this. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return mask;
  }

  /** `console.log` of Deno uses this. */
  [Symbol.for("Deno.customInspect")](): string {
    return mask;
  }
}
