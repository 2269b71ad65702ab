/**
 * Auth providers (`oidc`, `gcp`, `azure`): the way before exec plugins. @kubernetes/client-node knows them; it is loaded
 * only when a user entry asks for one, for it costs 0.3 s of start-up on Deno.
 *
 * Caveats: tokens it refreshes stay in memory, the kubeconfig is not rewritten. gcp and azure may run a program of the
 * kubeconfig through a shell, so the policy for exec plugins is asked first.
 */
import type { Clock } from "../async/mod.ts";
import { z } from "zod";
import { bearer, type Renewal } from "./_credential_source.ts";
import { printable } from "./_printable.ts";
import type { ClusterAccess, Credentials } from "./cluster_access.ts";
import { CredentialsError } from "./credentials_error.ts";
import { type ExecPolicy, refuseForbidden } from "./exec_credential.ts";

type AuthProvider = Extract<Credentials, { kind: "authProvider" }>;

const configSchema = z.record(z.string(), z.string());

/** Seconds before its end at which a token counts as over. */
const leewayMs = 10_000;

/** Without an expiry of its own a token is asked for again so often, in milliseconds. */
const unknownLifeMs = 60_000;

/** A token of the provider. @throws CredentialsError when there is none to be had. */
export async function authProviderToken(
  access: ClusterAccess,
  provider: AuthProvider,
  options: { readonly clock: Clock; readonly execPolicy: ExecPolicy },
): Promise<Renewal> {
  const { clock, execPolicy } = options;
  const config = configSchema.parse(JSON.parse(provider.config.reveal()));
  const command = config["cmd-path"];
  if (command !== undefined) refuseForbidden(command, undefined, execPolicy);
  const header = await askProvider(access, provider.name, config);
  const token = header?.replace(/^Bearer /, "") ?? "";
  if (token === "") {
    throw new CredentialsError(
      `Cannot get credentials from auth provider "${
        printable(provider.name, 64)
      }": it has no token; log in again, or use an exec plugin`,
    );
  }
  return { authorization: bearer(token), certificate: undefined, goodUntil: clock.monotonic() + lifeMs(token, clock) };
}

async function askProvider(
  access: ClusterAccess,
  name: string,
  config: Record<string, string>,
): Promise<string | undefined> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  const cluster = { name: "cluster", server: access.server, skipTLSVerify: false };
  kubeConfig.loadFromClusterAndUser(cluster, { name: "user", authProvider: { name, config } });
  const wanted: { headers: Record<string, string> } = { headers: {} };
  try {
    await kubeConfig.applyToHTTPSOptions(wanted);
  } catch {
    // Its errors may carry what a program or an issuer printed, tokens included, so none of it is passed on.
    throw new CredentialsError(
      `Cannot get credentials from auth provider "${printable(name, 64)}": it failed; log in again`,
    );
  }
  return wanted.headers.Authorization;
}

/** How long a token is good for: what a JWT says of itself. */
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
