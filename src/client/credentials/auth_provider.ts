/**
 * Auth providers (`oidc`, `gcp`, `azure`), the predecessors of exec plugins. @kubernetes/client-node implements them. It is
 * loaded only if a user entry has an auth provider, because it takes 0.3 s of start-up on Deno.
 *
 * Caveats: refreshed tokens stay in memory, the kubeconfig is not changed. gcp and azure may run a program of the
 * kubeconfig through a shell, so the policy for exec plugins is checked first.
 */
import { z } from "zod";
import type { Clock } from "../../async/mod.ts";
import { printable } from "../../observe/mod.ts";
import { type ClusterAccess, type Credentials, CredentialsError } from "../kubeconfig/mod.ts";
import { bearer, type ExpiringCredential } from "./credential.ts";
import { checkExecPolicy, type ExecPolicy } from "./exec_plugin.ts";

type AuthProvider = Extract<Credentials, { kind: "authProvider" }>;

const configSchema = z.record(z.string(), z.string());

/** Milliseconds before its end at which a token counts as expired. */
const leewayMs = 10_000;

/** A token without a known expiry is renewed after this many milliseconds. */
const unknownLifeMs = 60_000;

/** A token of the provider. @throws CredentialsError when the provider has none. */
export async function authProviderToken(
  access: ClusterAccess,
  provider: AuthProvider,
  options: { readonly clock: Clock; readonly execPolicy: ExecPolicy },
): Promise<ExpiringCredential> {
  const { clock, execPolicy } = options;
  const config = configSchema.parse(JSON.parse(provider.config.reveal()));
  const command = config["cmd-path"];
  if (command !== undefined) checkExecPolicy(command, undefined, execPolicy);
  const header = await requestHeader(access, provider.name, config);
  const token = header?.replace(/^Bearer /, "") ?? "";
  if (token === "") throw providerError(provider.name, "it has no token; log in again, or use an exec plugin");
  return { authorization: bearer(token), certificate: undefined, validUntil: clock.monotonic() + lifeMs(token, clock) };
}

/** The Authorization header that the provider sets. */
async function requestHeader(
  access: ClusterAccess,
  name: string,
  config: Record<string, string>,
): Promise<string | undefined> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  const cluster = { name: "cluster", server: access.server, skipTLSVerify: false };
  kubeConfig.loadFromClusterAndUser(cluster, { name: "user", authProvider: { name, config } });
  const request: { headers: Record<string, string> } = { headers: {} };
  try {
    await kubeConfig.applyToHTTPSOptions(request);
  } catch {
    // The error is dropped: it may contain output of a program or of an issuer, tokens included.
    throw providerError(name, "it failed; log in again");
  }
  return request.headers.Authorization;
}

function providerError(name: string, state: string): CredentialsError {
  return new CredentialsError(`Cannot get credentials from auth provider "${printable(name, 64)}": ${state}`);
}

/** The remaining life of a token, from the expiry of a JWT. */
function lifeMs(token: string, clock: Clock): number {
  try {
    const payload = token.split(".")[1] ?? "";
    const bytes = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
    const { exp } = z.object({ exp: z.number() }).parse(JSON.parse(new TextDecoder().decode(bytes)));
    return Math.max(0, exp * 1000 - clock.now() - leewayMs);
  } catch {
    return unknownLifeMs;
  }
}
