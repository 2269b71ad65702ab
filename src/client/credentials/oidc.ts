/**
 * OidcTokens: the auth provider `oidc` of a kubeconfig, the one of these predecessors of exec plugins that kubectl still
 * has. The ID token is used until it expires or the API server rejects it; then the refresh token buys a new one
 * (OpenID Connect Core, 12), at the token endpoint that the issuer's discovery document names.
 *
 * Guarantees: secrets go to the issuer over verified TLS only; a redirect is not followed; a refresh takes at most 30 s and
 * 1 MiB per answer; no error contains a token, a secret or text of the issuer.
 *
 * Caveats: new tokens stay in memory, the kubeconfig is not changed. If the issuer replaces the refresh token, the next
 * start needs a new login, and a warning says so.
 */
import { z } from "zod";
import { type Clock, scope, untilAborted } from "../../async/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import { type Environment, fromBase64, httpClient, readText } from "../../runtime/mod.ts";
import {
  CredentialsError,
  firstProblemOnly,
  isSafeUrl,
  Masked,
  type OidcProvider,
  proxyFromEnvironment,
} from "../kubeconfig/mod.ts";
import { bearer, type ExpiringCredential } from "./credential.ts";

/** Options of {@link OidcTokens}. */
export interface OidcTokensOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** For the proxy to the issuer. */
  readonly environment: Environment;
}

/** Milliseconds before its end at which a token counts as expired, as in client-go. */
const leewayMs = 10_000;
/** A token without a known expiry is renewed after this many milliseconds. */
const unknownLifeMs = 60_000;
/** Milliseconds for the two requests of a refresh. */
const refreshTimeoutMs = 30_000;
const maxAnswerBytes = 1024 * 1024;

const discoverySchema = z.object({
  token_endpoint: z.string(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});
const tokensSchema = z.object({ id_token: z.string(), refresh_token: z.string().optional() });
const refusalSchema = z.object({ error: z.string().regex(/^[a-z_]{1,64}$/) });

/** The tokens of one user. */
export class OidcTokens {
  readonly #provider: OidcProvider;
  readonly #options: OidcTokensOptions;
  #idToken: Masked | undefined;
  #refreshToken: Masked | undefined;
  /** True if the current ID token was returned: the caller needs another one. */
  /** The kubeconfig is outdated from the first new refresh token on; the next ones change nothing. */
  #hasWarned = false;
  #isUsed = false;

  constructor(provider: OidcProvider, options: OidcTokensOptions) {
    this.#provider = provider;
    this.#options = options;
    this.#idToken = provider.idToken;
    this.#refreshToken = provider.refreshToken;
  }

  /** The credential to use next. @throws CredentialsError when there is no valid token and no new one; the signal's reason */
  async renew(signal: AbortSignal): Promise<ExpiringCredential> {
    const { clock } = this.#options;
    const isValid = this.#idToken !== undefined && lifeMs(this.#idToken, clock) > 0;
    if (this.#refreshToken === undefined && !isValid) {
      throw oidcError("its id-token is missing or has expired, and it has no refresh-token; log in again");
    }
    if (this.#refreshToken !== undefined && (this.#isUsed || !isValid)) await this.#refresh(this.#refreshToken, signal);
    const token = this.#idToken ?? new Masked("");
    this.#isUsed = true;
    const validUntil = clock.monotonic() + lifeMs(token, clock);
    return { authorization: bearer(token.reveal()), certificate: undefined, validUntil };
  }

  async #refresh(refreshToken: Masked, signal: AbortSignal): Promise<void> {
    const { issuer, certificateAuthority: source } = this.#provider;
    const { clock, logger } = this.#options;
    if (issuer === undefined) throw oidcError("idp-issuer-url is missing, so its id-token cannot be renewed");
    using limited = scope(signal, { timeoutMs: refreshTimeoutMs, clock });
    const ca = source?.kind === "file" ? await readPem(source.path, limited.signal) : source?.pem.reveal();
    const discoveryUrl = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
    const discovery = await this.#answer(new Request(discoveryUrl, { signal: limited.signal }), ca, discoverySchema);
    if (!isSafeUrl(discovery.token_endpoint)) {
      throw oidcError("the token endpoint of its issuer is not an https:// URL");
    }
    const request = this.#tokenRequest(discovery, refreshToken, limited.signal);
    const tokens = await this.#answer(request, ca, tokensSchema);
    this.#idToken = new Masked(tokens.id_token);
    this.#isUsed = false;
    if (tokens.refresh_token === undefined || tokens.refresh_token === refreshToken.reveal()) return;
    this.#refreshToken = new Masked(tokens.refresh_token);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    logger.warn("received a new refresh token, the kubeconfig has the old one", {
      advice: "log in again before the next start, or use an exec plugin such as kubelogin",
    });
  }

  #tokenRequest(discovery: z.output<typeof discoverySchema>, refreshToken: Masked, signal: AbortSignal): Request {
    const { clientId, clientSecret } = this.#provider;
    const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken.reveal() });
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
    const methods = discovery.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    if (clientSecret === undefined || !methods.includes("client_secret_basic")) {
      form.set("client_id", clientId);
      if (clientSecret !== undefined) form.set("client_secret", clientSecret.reveal());
    } else {
      // Each part is form-encoded first (RFC 6749, 2.3.1).
      const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret.reveal())}`;
      headers.set("authorization", `Basic ${btoa(pair)}`);
    }
    return new Request(discovery.token_endpoint, { method: "POST", headers, body: form.toString(), signal });
  }

  /** Sends a request to the issuer. @throws CredentialsError when there is no answer of this form */
  async #answer<T extends z.ZodType>(request: Request, ca: string | undefined, schema: T): Promise<z.output<T>> {
    const url = new URL(request.url);
    const client = httpClient({ ca, proxy: proxyFromEnvironment(url, this.#options.environment) });
    try {
      const response = await client.fetch(request);
      const value = parsedJson(await boundedText(response, request.signal));
      if (response.status !== 200) throw refused(response.status, value);
      const parsed = schema.safeParse(value, firstProblemOnly);
      if (parsed.success) return parsed.data;
      throw oidcError("the answer of its issuer is malformed");
    } catch (error) {
      if (error instanceof CredentialsError) throw error;
      const code = error instanceof Error && "code" in error && /^\w{1,64}$/.test(String(error.code)) ? error.code : "";
      const state = request.signal.aborted ? "its issuer did not answer in time" : "its issuer cannot be reached";
      throw oidcError(code === "" || request.signal.aborted ? state : `${state} (${code})`);
    } finally {
      client.close();
    }
  }
}

function refused(status: number, value: unknown): CredentialsError {
  const parsed = refusalSchema.safeParse(value, firstProblemOnly);
  const reason = parsed.success ? ` (${parsed.data.error})` : "";
  return oidcError(`its issuer answered ${status}${reason}; log in again`);
}

async function readPem(path: string, signal: AbortSignal): Promise<string> {
  try {
    return await untilAborted(readText(path, { maxBytes: maxAnswerBytes, isRegular: true }), signal);
  } catch (cause) {
    throw new CredentialsError(`Cannot read idp-certificate-authority "${path}"`, { cause });
  }
}

async function boundedText(response: Response, signal: AbortSignal): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let sizeBytes = 0;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return text + decoder.decode();
      sizeBytes += value.length;
      if (sizeBytes > maxAnswerBytes) throw oidcError("the answer of its issuer is larger than 1 MiB");
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oidcError(state: string): CredentialsError {
  return new CredentialsError(`Cannot get credentials from auth provider "oidc": ${state}`);
}

/** The remaining life of a token in milliseconds, from the expiry of a JWT. */
function lifeMs(token: Masked, clock: Clock): number {
  try {
    const payload = token.reveal().split(".")[1] ?? "";
    const bytes = fromBase64(payload, "base64url");
    const { exp } = z.object({ exp: z.number() }).parse(JSON.parse(new TextDecoder().decode(bytes)), firstProblemOnly);
    return Math.max(0, exp * 1000 - clock.now() - leewayMs);
  } catch {
    return unknownLifeMs;
  }
}
