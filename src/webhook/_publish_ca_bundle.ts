/** Telling the API server whom to believe: the bundle goes into every webhook configuration that is ours. */
import { type Client, retryOnConflict } from "../client/mod.ts";
import type { Clock } from "../async/mod.ts";
import {
  borrowedAnnotation,
  type ConfigurationTarget,
  patchConfiguration,
  readConfiguration,
} from "./_live_configuration.ts";

/** Options of {@link publishCaBundle}. */
export interface PublishOptions {
  readonly client: Client;
  readonly targets: readonly ConfigurationTarget[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Makes `bundle` (PEM) the authorities of every target; writes only where something else stands.
 *
 * @returns how many objects were changed; targets that are not installed are passed over
 * @throws ApiError when one cannot be read or written; a conflict is tried again
 */
export async function publishCaBundle(bundle: string, options: PublishOptions): Promise<number> {
  const { client, targets, clock, signal } = options;
  const caBundle = new TextEncoder().encode(bundle).toBase64();
  let changed = 0;
  for (const target of targets) {
    await retryOnConflict(async () => {
      const live = await readConfiguration(client, target, signal);
      const stale = live?.entries.filter((entry) => entry.clientConfig.caBundle !== caBundle) ?? [];
      // Whoever runs the webhooks locally serves with a certificate of another authority.
      const isBorrowed = Object.hasOwn(live?.annotations ?? {}, borrowedAnnotation);
      if (live === undefined || stale.length === 0 || isBorrowed) return;
      const operations = stale.map((
        { pointer },
      ) => ({ op: "add", path: `${pointer}/caBundle`, value: caBundle } as const));
      await patchConfiguration(client, target, live, operations, signal);
      changed++;
    }, { clock, signal });
  }
  return changed;
}
