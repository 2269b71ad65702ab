/** How to reach an API server of a test: its address, the authority of its certificate, and a token. */
import { type ClusterAccess, Masked } from "../../client/mod.ts";

/** The parts of an access. */
export interface TokenAccess {
  /** The https URL. */
  readonly server: string;
  /** PEM of the authority that signed the certificate of the server. */
  readonly ca: string;
  readonly token: string;
}

/** Returns the access for a `clusterTransport()`. */
export function tokenAccess({ server, ca, token }: TokenAccess): ClusterAccess {
  return {
    source: { kind: "flags" },
    server,
    namespace: "default",
    certificateAuthority: { kind: "data", pem: new Masked(ca, { isCredential: false }) },
    insecureSkipTlsVerify: false,
    serverName: undefined,
    proxy: undefined,
    clientCertificate: undefined,
    credentials: { kind: "token", token: new Masked(token) },
    impersonate: undefined,
    user: "administrator",
    requestTimeoutMs: undefined,
  };
}
