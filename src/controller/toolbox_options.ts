/** What the runtime of controllers gives to the {@link ToolboxOptions | Toolbox} of one attempt. */
import type { KubeObject, Resource } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { AttemptBodies } from "./_attempt_bodies.ts";
import type { DeletedDependents } from "./_deleted_dependents.ts";
import type { NormalizationCache } from "./_diff.ts";
import type { FieldRepair } from "./_loop_detector.ts";
import type { CacheReader } from "./caches.ts";
import type { Hub } from "./clusters.ts";
import type { Dependents } from "./dependents_state.ts";
import type { ExternalItems } from "./external.ts";
import type { ImpersonationRules } from "./impersonation.ts";
import type { NotControlledError } from "./owner_errors.ts";
import type { Ownership } from "./ownership.ts";
import type { Cause, EventSink, Request } from "./request.ts";

/** Options of a {@link Toolbox}. */
export interface ToolboxOptions {
  readonly request: Request;
  readonly client: Client;
  /** The hub of the Fleet. @default the cluster of `client` */
  readonly hub?: Hub;
  readonly caches: CacheReader;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Owner of the fields that are written. */
  readonly fieldManager: string;
  /** How the server normalizes values, as earlier attempts found out. @default empty */
  readonly normalizations?: NormalizationCache;
  /** Dependents whose owner is read live before they are created again. @default none */
  readonly deletedDependents?: DeletedDependents;
  /** The bodies of bounded kinds that this attempt has read. @default no kind is bounded */
  readonly bodies?: AttemptBodies;
  /** How dependents refer to their owner, and which kinds are pruned. @default by controller reference, and none */
  readonly ownership?: Ownership;
  /** The ordered dependents of the reconciled objects. @default none */
  readonly dependents?: Dependents;
  /** The external resources that the controller declared. @default none */
  readonly externals?: ExternalItems;
  /** The users that `as` may be called with. @default none */
  readonly impersonates?: ImpersonationRules;
  /** Why this attempt was made. */
  readonly causes: readonly Cause[];
  /** 0 on the first attempt, then the number of failures in a row. */
  readonly retries: number;
  /** Called with objects that were found on the server and may be newer than the cache. @default not called */
  readonly observeLive?: (resource: Resource, object: KubeObject) => void;
  /** The entry of the last write of an object, in a recording. @default nothing is recorded */
  readonly entryOf?: (resource: Resource, key: string) => number | undefined;
  /** Called with an object that is left alone, because another owner or none controls it. @default not called */
  readonly onNotControlled?: (resource: Resource, error: NotControlledError) => void;
  /** Called after a write has repaired a field; not for writes that failed. */
  readonly onRepair: (repair: FieldRepair) => void;
}
