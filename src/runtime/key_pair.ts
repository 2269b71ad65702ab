/** Whether a certificate and a private key are two halves of one: asked before a rotated pair is used. */
import { createPrivateKey, X509Certificate } from "node:crypto";

/** True when `key` is the private key of the first certificate in `cert`; both PEM. False for what is neither. */
export function isKeyPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
