/**
 * Workload: what people do to a cluster while a controller runs, as data. `controller simulate` plays it with and without
 * faults, so it is written down once, beside the controller, and can be kept in a file together with a fault plan.
 *
 * A step that the server refuses is no error: that it is refused is part of what the workload does.
 */
import type { UntypedObject } from "../api/mod.ts";

/** Names one object. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** @default "default", for kinds in namespaces */
  readonly namespace?: string;
}

/** One thing that somebody does. */
export type WorkloadStep =
  & (
    | { readonly kind: "create"; readonly object: UntypedObject }
    | {
      readonly kind: "patch";
      readonly object: ObjectName;
      /** A JSON merge patch. */
      readonly patch: Readonly<Record<string, unknown>>;
      readonly subresource?: string;
    }
    | { readonly kind: "delete"; readonly object: ObjectName }
    /** The operator's process ends without a word and does not start before the next step is done. */
    | { readonly kind: "stop" }
  )
  & {
    /** The next step follows at once, without waiting for the controllers to be done. @default false */
    readonly atOnce?: boolean;
    /** The next step follows as soon as the controllers have written so often, in the middle of what they do. */
    readonly untilWrites?: number;
  };

/** A sequence of steps; between two of them everything settles. */
export interface Workload {
  /** A few words: `delete and create again`. */
  readonly name: string;
  readonly steps: readonly WorkloadStep[];
}
