/**
 * UnreachableError: there was no response, or only a part of one. Bun and Deno have different errors for the same cause;
 * this file maps them to one set of reasons, each with a hint that says what to check.
 */
import { printable } from "../observe/mod.ts";

/** Why there was no response: no connection, a TLS error, or a timeout. */
export type UnreachableReason =
  | {
    readonly kind: "unreachable";
    readonly detail: "refused" | "reset" | "nameNotFound" | "noRoute" | "proxy" | "other";
  }
  | {
    readonly kind: "tls";
    readonly detail:
      | "unknownAuthority"
      | "expired"
      | "notYetValid"
      | "wrongName"
      | "notTls"
      | "clientCertificate"
      | "other";
  }
  | { readonly kind: "timeout"; readonly detail: "noResponse" | "stalled" };

/** Options of an {@link UnreachableError}. */
export interface UnreachableErrorOptions {
  /** Infinitive for the message: what the request should do. */
  readonly action: string;
  /** Why there was no response. */
  readonly reason: UnreachableReason;
  /** The state, for the message. @default the text for `reason` */
  readonly state?: string;
  /** The error of the HTTP client. @default none */
  readonly cause?: unknown;
}

/**
 * The API server sent no complete response. A write may have taken effect or not.
 *
 * @example
 * ```ts
 * import { UnreachableError } from "@pintle/controller/client";
 *
 * const error = new UnreachableError({
 *   action: "reach the API server at kube:6443",
 *   reason: { kind: "tls", detail: "expired" },
 * });
 * console.assert(error.message === "Cannot reach the API server at kube:6443: its certificate has expired");
 * console.assert(error.hint.startsWith("Renew the API server's certificate"));
 * ```
 */
export class UnreachableError extends Error {
  /** Always "UnreachableError". */
  override readonly name = "UnreachableError";
  /** Why there was no response. */
  readonly reason: UnreachableReason;
  /** What to check next, in one line. */
  readonly hint: string;

  /** Creates the error, e.g. for a fake transport in a test. */
  constructor(options: UnreachableErrorOptions) {
    const { action, reason, cause } = options;
    const [state, hint] = texts[`${reason.kind}.${reason.detail}`] ?? ["there is no response", ""];
    super(`Cannot ${action}: ${options.state ?? state}`, { cause });
    this.reason = reason;
    this.hint = hint;
  }
}

/**
 * Checks for the error of a request without a complete response. A write may have taken effect or not.
 *
 * @param error Any caught value.
 *
 * @example
 * ```ts
 * import { isUnreachable, Pod } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 *
 * const client = new Client(() => Promise.reject(new TypeError("connection refused")));
 * const error: unknown = await client.get(Pod, "default/web").catch((error) => error);
 * console.assert(isUnreachable(error) && error.reason.detail === "refused");
 * ```
 */
export function isUnreachable(error: unknown): error is UnreachableError {
  return error instanceof UnreachableError;
}

const texts: Readonly<Record<string, readonly [state: string, hint: string]>> = {
  "unreachable.refused": [
    "the connection was refused",
    "Check that the API server runs and that `server` names its port",
  ],
  "unreachable.reset": ["the connection was closed", "Check for a proxy or firewall in between"],
  "unreachable.nameNotFound": [
    "the host name cannot be resolved",
    "Check `server` in the kubeconfig, and DNS or the VPN",
  ],
  "unreachable.noRoute": ["there is no route to the host", "Check the network or the VPN"],
  "unreachable.proxy": ["the proxy did not connect", "Check HTTPS_PROXY, NO_PROXY and `proxy-url`"],
  "unreachable.other": ["there is no connection", "Check `server` in the kubeconfig and the network"],
  "tls.unknownAuthority": [
    "its certificate is signed by an unknown authority",
    "Check `certificate-authority-data` in the kubeconfig: it must be the CA of this API server",
  ],
  "tls.expired": ["its certificate has expired", "Renew the API server's certificate, or check this machine's clock"],
  "tls.notYetValid": ["its certificate is not valid yet", "Check this machine's clock"],
  "tls.wrongName": [
    "its certificate is for another name",
    "Use a name of the certificate in `server`, or set `tls-server-name`",
  ],
  "tls.notTls": ["it does not speak TLS on this port", "Check the scheme and the port of `server`"],
  "tls.clientCertificate": ["it refused the client certificate", "Check `client-certificate` and `client-key`"],
  "tls.other": ["the TLS handshake failed", "Check the certificates in the kubeconfig"],
  "timeout.noResponse": ["no response in time", "Check the network, or whether the API server is overloaded"],
  "timeout.stalled": [
    "its response stopped in the middle",
    "Check the network, or whether the API server is overloaded",
  ],
};

/** Converts an error of an HTTP client to an UnreachableError. An UnreachableError stays unchanged. */
export function unreachable(error: unknown, action: string): UnreachableError {
  if (error instanceof UnreachableError) return error;
  const reason = reasonFor(error);
  const isProxy = reason.kind === "unreachable" && reason.detail === "proxy";
  const isOther = reason.detail === "other";
  const alert = alertOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const text = printable(alert === undefined ? message : `it refused the TLS handshake (${alert})`, 256);
  return new UnreachableError({ action, reason, cause: error, ...(isProxy || isOther ? { state: text } : {}) });
}

/** Codes of OpenSSL, of Node and of the system, as the HTTP clients of all runtimes set them. */
const reasonsByCode: ReadonlyMap<string, UnreachableReason> = new Map<string, UnreachableReason>([
  ["ECONNREFUSED", { kind: "unreachable", detail: "refused" }],
  ["ConnectionRefused", { kind: "unreachable", detail: "refused" }],
  ["ECONNRESET", { kind: "unreachable", detail: "reset" }],
  ["ConnectionClosed", { kind: "unreachable", detail: "reset" }],
  ["EPIPE", { kind: "unreachable", detail: "reset" }],
  ["ENOTFOUND", { kind: "unreachable", detail: "nameNotFound" }],
  ["EAI_AGAIN", { kind: "unreachable", detail: "nameNotFound" }],
  ["EHOSTUNREACH", { kind: "unreachable", detail: "noRoute" }],
  ["ENETUNREACH", { kind: "unreachable", detail: "noRoute" }],
  ["ERR_PROXY", { kind: "unreachable", detail: "proxy" }],
  ["ETIMEDOUT", { kind: "timeout", detail: "noResponse" }],
  ["SELF_SIGNED_CERT_IN_CHAIN", { kind: "tls", detail: "unknownAuthority" }],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", { kind: "tls", detail: "unknownAuthority" }],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { kind: "tls", detail: "unknownAuthority" }],
  ["UNABLE_TO_GET_ISSUER_CERT", { kind: "tls", detail: "unknownAuthority" }],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", { kind: "tls", detail: "unknownAuthority" }],
  ["CERT_SIGNATURE_FAILURE", { kind: "tls", detail: "unknownAuthority" }],
  ["CERT_HAS_EXPIRED", { kind: "tls", detail: "expired" }],
  ["CERT_NOT_YET_VALID", { kind: "tls", detail: "notYetValid" }],
  ["ERR_TLS_CERT_ALTNAME_INVALID", { kind: "tls", detail: "wrongName" }],
  ["HOSTNAME_MISMATCH", { kind: "tls", detail: "wrongName" }],
  ["EPROTO", { kind: "tls", detail: "notTls" }],
  ["ERR_SSL_WRONG_VERSION_NUMBER", { kind: "tls", detail: "notTls" }],
]);

/** Patterns for messages of errors without a code. */
const reasonsByMessage: readonly (readonly [RegExp, UnreachableReason])[] = [
  [/UnknownIssuer|self.signed|unable to (verify|get)/i, { kind: "tls", detail: "unknownAuthority" }],
  [/certificate (has )?expired/i, { kind: "tls", detail: "expired" }],
  [/not (yet valid|valid yet)/i, { kind: "tls", detail: "notYetValid" }],
  [/not valid for name|altname/i, { kind: "tls", detail: "wrongName" }],
  [/InvalidContentType|wrong version number|speak TLS/i, { kind: "tls", detail: "notTls" }],
  [/refused/i, { kind: "unreachable", detail: "refused" }],
  [/reset|socket hang up|closed|broken pipe|unexpected end|aborted/i, { kind: "unreachable", detail: "reset" }],
  [/getaddrinfo|lookup address/i, { kind: "unreachable", detail: "nameNotFound" }],
  [/timed? ?out/i, { kind: "timeout", detail: "noResponse" }],
];

/** Alerts by which a server refuses the certificate of a client, or that there is none. */
const certificateAlert = /certificate|unknown ca|access denied/;

/** What an alert says: the server speaks TLS, whatever the code of the error is. */
function alertReason(error: Error): UnreachableReason | undefined {
  const alert = alertOf(error);
  if (alert === undefined) return undefined;
  return { kind: "tls", detail: certificateAlert.test(alert) ? "clientCertificate" : "other" };
}

/**
 * The name of the alert by which the server has ended a TLS handshake: `alert certificate required` of OpenSSL,
 * `ALERT_CERTIFICATE_REQUIRED` of BoringSSL, `alert: CertificateRequired` of rustls. Undefined for any other error.
 */
function alertOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || ("code" in error && error.code === "ERR_PROXY")) return undefined;
  const [, name] = /\b(?:(?:tls|ssl)[a-z0-9]*|fatal)[ _]alert[ _:]+([a-z]+(?:[ _][a-z]+)*)/i.exec(error.message) ?? [];
  return name?.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
}

function reasonFor(error: unknown): UnreachableReason {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at.name === "TimeoutError") return { kind: "timeout", detail: "noResponse" };
    const known = alertReason(at) ??
      ("code" in at && typeof at.code === "string" ? reasonsByCode.get(at.code) : undefined);
    if (known !== undefined) return known;
  }
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const known = reasonsByMessage.find(([pattern]) => at instanceof Error && pattern.test(at.message));
    if (known !== undefined) return known[1];
  }
  return { kind: "unreachable", detail: "other" };
}
