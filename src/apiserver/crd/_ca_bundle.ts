/** Whether the certificates of an authority can be read, as far as their PEM goes: what they certify is not looked at. */

/** What is wrong with a bundle in base64; undefined for one that is right, or empty. */
export function caBundleError(base64: string): string | undefined {
  if (base64 === "") return undefined;
  const title = "unable to load root certificates";
  let text: string;
  try {
    text = new TextDecoder().decode(Uint8Array.fromBase64(base64));
  } catch {
    return `${title}: unable to parse bytes as PEM block`;
  }
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\s+[A-Za-z0-9+/=\s]+-----END \1-----/g);
  const kinds = Array.from(blocks, ([, kind]) => kind);
  if (kinds.length === 0) return `${title}: unable to parse bytes as PEM block`;
  return kinds.includes("CERTIFICATE") ? undefined : `${title}: no valid certificate authority data seen`;
}
