/**
 * What to do about credentials that a server refused. A server says no more than 401, so this looks at what was sent: an
 * expired client certificate is the most common reason, and its date can be read from here.
 */
import { X509Certificate } from "node:crypto";
import type { ClusterAccess, PemSource } from "../client/mod.ts";
import { readText } from "../runtime/mod.ts";

/** One sentence of advice, without a period. @param now Wall time in milliseconds */
export async function credentialsAdvice(access: ClusterAccess, now: number): Promise<string> {
  const { clientCertificate, credentials } = access;
  const expiredAt = clientCertificate === undefined ? undefined : await expiryOf(clientCertificate.certificate);
  if (expiredAt !== undefined && expiredAt <= now) {
    return `Get a new client certificate: this one expired at ${new Date(expiredAt).toISOString()}`;
  }
  switch (credentials.kind) {
    case "none":
      return clientCertificate === undefined
        ? "The kubeconfig has none for this user: pass --token or --client-certificate, or use another context"
        : "Check whether the client certificate is one of this cluster";
    case "token":
    case "tokenFile":
      return "Check whether the token has expired, was revoked, or is one of another cluster";
    case "exec":
      return `Check what the plugin "${credentials.plugin.command}" prints, perhaps by logging in with it again`;
    case "basic":
    case "authProvider":
      return "Log in again with the tool that wrote the kubeconfig";
    default:
      return credentials satisfies never;
  }
}

async function expiryOf(source: PemSource): Promise<number | undefined> {
  try {
    const pem = source.kind === "data" ? source.pem.reveal() : await readText(source.path);
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined; // whatever is wrong with it, this is only about advice
  }
}
