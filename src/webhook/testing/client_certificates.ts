/** Certificates of clients and the authority that signed them, for the tests of `webhook_server.ts`. */
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

/** A client's identity, PEM text. */
export interface ClientCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Creates one client certificate for each common name, all signed by one new authority. */
export async function clientCertificate(names: readonly string[]): Promise<readonly ClientCertificate[]> {
  const caKeys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=clients",
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  const made: ClientCertificate[] = [];
  for (const name of names) {
    const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
    });
    const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
    made.push({ ca: ca.toString("pem"), cert: certificate.toString("pem"), key });
  }
  return made;
}
