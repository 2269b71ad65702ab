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
 * - `full`: all defaults, checks and messages of the real server;
 * - `schema`: only required fields and enums.
 */
export type Depth = "full" | "schema";

/** The rules of a kind. */
export interface KindRules {
  /** How complete the rules are: docs/CONFORMANCE.md shows it. */
  readonly depth: Depth;
  /** @default subdomainName */
  readonly validateName?: NameRule;
  /** Top-level fields whose changes increment `metadata.generation`. @default none: the kind has no generation */
  readonly generationFields?: readonly string[];
  /** True when changes of annotations increment it as well (Deployments). @default false */
  readonly annotationsIncrementGeneration?: boolean;
  /** True when changes of labels increment it as well (EndpointSlices). @default false */
  readonly labelsIncrementGeneration?: boolean;
  /** True when a create may set the status (Nodes). @default false */
  readonly createWritesStatus?: boolean;
  /** The group in messages about an invalid object. @default the group of the kind */
  readonly errorGroup?: string;
  /** The resource in the message about an object that does not exist. @default the plural */
  readonly missingResource?: string;
  /** The warning for every request for the kind. @default none */
  readonly deprecation?: string;
  /** The metadata that a write of the status writes as well. @default "all" */
  readonly statusMetadata?: "all" | "noLabels" | "none";
  /**
   * The fields that a write does not change and so never owns, by subresource; "" for the object.
   *
   * @default the status for the object, all other fields for the status
   */
  readonly resetFields?: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** @default true */
  readonly allowsUnconditionalUpdate?: boolean;
  /** @default false */
  readonly allowsCreateOnUpdate?: boolean;
  /** False if `generateName` is taken as the name. @default true */
  readonly generatesNames?: boolean;
  /** True if names of finalizers need no domain: kube-apiserver checks them for most kinds. @default false */
  readonly allowsPlainFinalizers?: boolean;
  readonly deletion?: DeletionRules;
  readonly scale?: ScalePaths;
  /** Fields that a field selector may use, in addition to metadata.name and metadata.namespace. */
  readonly fieldSelectors?: ReadonlyMap<string, (object: JsonObject) => string>;

  /** A stored object as clients see it; the same value if nothing is hidden. @default as it is stored */
  shown?(object: JsonObject): JsonObject;
  /** Runs after the status was dropped and the generation was set. */
  prepareForCreate?(draft: Draft, context: WriteContext): void;
  /** Runs after the old status was restored, before the generation is incremented. */
  prepareForUpdate?(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** Runs for a write of the status, after the old spec was restored. */
  prepareForStatus?(draft: Draft, old: JsonObject, context: WriteContext): void;
  /** Runs for a write of another subresource, e.g. `resize` or `approval`. */
  prepareForSubresource?(draft: Draft, old: JsonObject, context: WriteContext): void;

  /** Checks a new object. */
  validate?(object: JsonObject, problems: Problems, context: WriteContext): void;
  /** Checks an update. @default validate */
  validateUpdate?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** Checks an update of the status. @default no checks */
  validateStatus?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** Checks an update of another subresource. @default no checks */
  validateSubresource?(object: JsonObject, old: JsonObject, problems: Problems, context: WriteContext): void;
  /** @param old undefined for a new object */
  warnings?(object: JsonObject, old: JsonObject | undefined): readonly string[];
  /** Warnings for an update of the status. @default none */
  statusWarnings?(object: JsonObject): readonly string[];
  /** Converts an object from another version of the same collection. */
  convert?(object: JsonObject, to: Pick<Kind, "group" | "version" | "kind">): JsonObject;
}

/** Rules by `<kind>.<group>`, or by `<kind>.<group>/<version>` where versions differ: `Pod.`, `Event.events.k8s.io`. */
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
  /** Quota meters by collection. Objects of other kinds are only counted. */
  readonly quotaMeters?: Readonly<Record<string, QuotaMeter>>;
}

/** Compiles CEL expressions and reports their errors. It is not called for blank expressions. */
export interface ExpressionChecks {
  /** Checks a match condition. @param hasParams whether it may use `params` */
  condition(expression: string, hasParams: boolean, path: FieldPath, problems: Problems): void;
  /** Returns the checks of a policy. @param spec of the policy */
  policy(spec: JsonObject): PolicyExpressionChecks;
}

/** Checks the expressions of one policy; `index` is the index of the item. */
export interface PolicyExpressionChecks {
  variable(index: number, path: FieldPath, problems: Problems): void;
  validation(expression: string, path: FieldPath, problems: Problems): void;
  message(expression: string, path: FieldPath, problems: Problems): void;
  annotation(expression: string, path: FieldPath, problems: Problems): void;
  /** Checks the expression of a mutation. @param patchType `JSONPatch` or `ApplyConfiguration` */
  mutation(expression: string, patchType: string, path: FieldPath, problems: Problems): void;
}

const nothing = (): void => {};

/** Compiles nothing: for servers without CEL. */
export const noExpressionChecks: ExpressionChecks = {
  condition: nothing,
  policy: () => ({ variable: nothing, validation: nothing, message: nothing, annotation: nothing, mutation: nothing }),
};
