/** Base64 as Secrets hold it: UTF-8 text to and from it, and how many bytes it stands for. */

/** A text as base64 of its UTF-8. */
export function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

/** The text that base64 stands for; bytes that are no UTF-8 become U+FFFD. */
export function fromBase64(base64: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(base64));
}

/** How many bytes base64 stands for. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
