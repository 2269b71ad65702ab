/**
 * KindRules: the rules that are written for one kind, beyond its generated type: how writes prepare its objects, how they are
 * validated, and which fields selectors can use. A kind without rules is decoded, gets the defaults of its types and is checked
 * against its schema. KindGroup lists the rules, defaults, table rows and quota meters of one API group.
 */
import type { DeletionRules, Draft, JsonObject, Kind, ScalePaths, WriteContext } from "../../model/mod.ts";
import type { DefaultingFunction } from "../types/mod.ts";
import type { Row } from "./cells.ts";
import type { NameRule } from "./formats.ts";
import type { FieldPath, Problems } from "./problems.ts";
import type { QuotaMeter } from "./quota_meter.ts";

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

/** Defaulting functions by the names of their types: `core/v1.Pod`. */
export type DefaultsByType = Readonly<Record<string, DefaultingFunction>>;

/** Everything that is specific to the kinds of one API group. Each folder of a group exports one. */
export interface KindGroup {
  /** Rules by `<kind>.<group>`: `Pod.`, `Event.events.k8s.io`. A kind without rules is checked against its schema. */
  readonly rules: Readonly<Record<string, KindRules>>;
  /** A type that is not listed gets only the defaults that its Go type declares. */
  readonly defaults?: DefaultsByType;
  /** Rows of tables by `<plural>.<group>`. A kind without one shows its name and when it was created. */
  readonly rows: Readonly<Record<string, Row>>;
  /** By collection. The objects of other kinds are only counted. */
  readonly quotaMeters?: Readonly<Record<string, QuotaMeter>>;
}

/** Compiles expressions and says what is wrong with them. Blank ones are not passed on. */
export interface ExpressionChecks {
  /** A match condition. @param hasParams whether it may name `params` */
  condition(expression: string, hasParams: boolean, path: FieldPath, problems: Problems): void;
  /** The expressions of a policy. @param spec of the policy */
  policy(spec: JsonObject): PolicyExpressionChecks;
}

/** Those of one policy; `index` is that of the item. */
export interface PolicyExpressionChecks {
  variable(index: number, path: FieldPath, problems: Problems): void;
  validation(expression: string, path: FieldPath, problems: Problems): void;
  message(expression: string, path: FieldPath, problems: Problems): void;
  annotation(expression: string, path: FieldPath, problems: Problems): void;
}

const nothing = (): void => {};

/** Compiles nothing: for whoever has no CEL. */
export const noExpressionChecks: ExpressionChecks = {
  condition: nothing,
  policy: () => ({ variable: nothing, validation: nothing, message: nothing, annotation: nothing }),
};
