/**
 * DebugLocation: where the debug endpoint of a leader is, as an annotation of its Lease. A process with a debug endpoint writes it
 * while it leads; `why` and `top` read it.
 *
 * Guarantees: the token is no part of it; of a Lease that somebody else wrote, only a location of its holder with known fields
 * is read.
 */
import { z } from "zod";
import { type Environment, processFacts } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";

/** The annotation of the Lease. Its value is a {@link DebugLocation} as JSON. */
export const debugEndpointAnnotation = "pintle.dev/debug-endpoint";

const podKey = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const locationSchema = z.object({
  /** The identity of the process, as in the Lease: another program may take the Lease and keep the annotation. */
  holder: z.string().min(1).max(1_024),
  /** The name of its machine. */
  host: z.string().min(1).max(253),
  /** `namespace/name`, if it runs in a Pod. */
  pod: z.string().regex(podKey).optional(),
  /** The address that it listens on. */
  hostname: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  isTls: z.boolean(),
});

/** Where a debug endpoint is. */
export type DebugLocation = z.output<typeof locationSchema>;

/** The value of the annotation. */
export function locationText(location: DebugLocation): string {
  return JSON.stringify(location);
}

/** @returns undefined for a text that is no location of `holder` */
export function parseLocation(text: string | undefined, holder: string): DebugLocation | undefined {
  const found = boundedParse(locationSchema, parsed(text));
  return found.kind === "valid" && found.value.holder === holder ? found.value : undefined;
}

/**
 * The Pod of this process, `namespace/name`; undefined outside of a cluster. Its name is that of its machine, unless it uses the
 * network of its Node or has a name of more than 63 characters: then the variable POD_NAME says it.
 */
export function podName(
  { isInCluster, namespace }: { readonly isInCluster: boolean; readonly namespace: string },
  { POD_NAME }: Environment,
): string | undefined {
  return isInCluster ? `${namespace}/${POD_NAME || processFacts().hostname}` : undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined || text.length > 4_096 ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
