/**
 * KindRules: what a person wrote about one kind, beyond what the generated types say: how it is changed, what is wrong with
 * it, what it can be selected by. A kind without rules is decoded, defaulted by its types and checked against its schema.
 */
import type { DeletionRules, Draft, JsonObject, Kind, ScalePaths, WriteContext } from "../model/mod.ts";
import type { NameRule } from "./formats.ts";
import type { Problems } from "./problems.ts";

/**
 * How closely a kind follows the real server:
 * - `full`: defaults, validation, immutability and messages by hand, as the real one has them;
 * - `partial`: the same for what people use, the rest by schema;
 * - `schema`: required fields and enums only.
 */
export type Depth = "full" | "partial" | "schema";

/** The rules of a kind. */
export interface KindRules {
  readonly depth: Depth;
  /** @default subdomainName */
  readonly names?: NameRule;
  /** Top-level fields whose change bumps `metadata.generation`. @default none: the kind has no generation */
  readonly generation?: readonly string[];
  /** Whether changed annotations bump it as well (Deployments). @default false */
  readonly countsAnnotations?: boolean;
  /** Whether changed labels bump it as well (EndpointSlices). @default false */
  readonly countsLabels?: boolean;
  /** True where a creator may set the status (Nodes). @default false */
  readonly keepsStatus?: boolean;
  /** The group that messages about an invalid object name. @default the kind's */
  readonly errorGroup?: string;
  /** The warning that every request about the kind earns. @default none */
  readonly deprecation?: string;
  /** What a write of the status leaves of the metadata. @default "all": metadata is written too */
  readonly statusMetadata?: "all" | "noLabels" | "none";
  /**
   * By subresource, "" for the object: the fields that its writes do not change and so never own.
   *
   * @default the status, and all but the status
   */
  readonly resetFields?: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** @default true */
  readonly allowsUnconditionalUpdate?: boolean;
  /** @default false */
  readonly allowsCreateOnUpdate?: boolean;
  readonly deletion?: DeletionRules;
  readonly scale?: ScalePaths;
  /** Fields that a field selector may name, beside metadata.name and metadata.namespace. */
  readonly selectable?: ReadonlyMap<string, (object: JsonObject) => string>;

  /** After the status was dropped and the generation set. */
  prepareForCreate?(draft: Draft, context: WriteContext): void;
  /** After the status was kept, before the generation is counted. */
  prepareForUpdate?(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** For a write of the status, after the spec was kept. */
  prepareForStatus?(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** For a write of another part, e.g. `resize` or `approval`. */
  prepareForPart?(draft: Draft, old: JsonObject, context: WriteContext): void;

  /** What is wrong with a new object. */
  validate?(object: JsonObject, problems: Problems, context: WriteContext): void;
  /** What is wrong with a change. @default validate */
  validateUpdate?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** What is wrong with a change of the status. @default nothing */
  validateStatus?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** What is wrong with a change of another part. @default nothing */
  validatePart?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** @param old undefined for a new object */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[];
  /** From another version of the same collection. */
  convert?(object: JsonObject, to: Pick<Kind, "group" | "version" | "kind">): JsonObject;
}

/** The rules by `<kind>.<group>`, `<kind>.<group>/<version>` where versions differ: `Pod.`, `Event.events.k8s.io`. */
export type RuleBook = ReadonlyMap<string, KindRules>;
