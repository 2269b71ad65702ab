/**
 * The seam between admission (and conversion) and whatever answers: over HTTPS where people run it, in the same process
 * where a controller runs beside the server. Who is called stands in the configuration; how, is not known here.
 */

/** Where a webhook is: one of the two, as `clientConfig` says. */
export interface WebhookTarget {
  /** `https://…`, with its path. */
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path: string;
    readonly port: number;
  };
  /** PEM text. */
  readonly caBundle?: string;
}

/**
 * Asks a webhook.
 *
 * @returns the body of its answer
 * @throws WebhookUnreachable when there is no answer of use
 */
export type CallWebhook = (
  target: WebhookTarget,
  body: string,
  options: { readonly timeoutMs: number },
) => Promise<string>;

/** There was no answer, or none of use. The message is what the client is told. */
export class WebhookUnreachable extends Error {
  override readonly name = "WebhookUnreachable";
}
