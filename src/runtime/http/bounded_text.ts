/** boundedText(): the body of a response as text, with a limit on its bytes. */

/** Options of {@link boundedText}. */
export interface BoundedTextOptions {
  /** Bytes above which the body is refused. */
  readonly maxBytes: number;
  /** What the error calls the body: `response`. */
  readonly what: string;
}

/** Reads the body as UTF-8. @throws RangeError when it is too large, before the rest is read */
export async function boundedText(response: Response, { maxBytes, what }: BoundedTextOptions): Promise<string> {
  const decoder = new TextDecoder();
  let [text, sizeBytes] = ["", 0];
  // A throw inside the loop cancels the stream.
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new RangeError(`the ${what} has more than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
