/**
 * CheckedRules: what the compiler checks of CEL rules. A rule about the whole object names fields after `self.`; each must
 * be a field of the schema. All else is left to the API server, which compiles the rules when the CRD is created.
 *
 * Guarantees: no valid rule is rejected, apart from a text in quotes that contains `self.` and a wrong field. A rule
 * whose type is only `string` is not checked.
 */
import type { z } from "zod";
import type { ValidationRule } from "./structural_schema.ts";

/** What `self` is in the rules of a kind. Of the metadata, rules can read the two names only. */
export type RuleSelf<
  Spec extends z.core.$ZodType,
  Status extends z.core.$ZodType,
  Fields extends z.core.$ZodType = z.core.$ZodUndefined,
> = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; generateName: string };
  spec: z.output<Spec>;
  status: z.output<Status>;
} & (undefined extends z.output<Fields> ? unknown : z.output<Fields>);

/** Rules with these texts, in which every field after `self.` exists; for another text, the sentence that the compiler prints. */
export type CheckedRules<
  Texts extends readonly string[],
  Kind extends string,
  Spec extends z.core.$ZodType,
  Status extends z.core.$ZodType,
  Fields extends z.core.$ZodType = z.core.$ZodUndefined,
> = { readonly [Index in keyof Texts]: CheckedRule<Texts[Index], Kind, RuleSelf<Spec, Status, Fields>> };

/** A rule with a text, in which every field after `self.` exists. */
export interface CheckedRule<Text extends string, Kind extends string, Self> extends Omit<ValidationRule, "rule"> {
  /** The rule. */
  readonly rule: [UnknownField<Text, Self>] extends [never] ? Text : `${Kind} has no field ${UnknownField<Text, Self>}`;
}

/** The first field in a rule that does not exist, as `self.spec.maks`. */
export type UnknownField<Rule extends string, Self> = Rule extends `${string}self.${infer Rest}`
  ? true extends HasFields<Rest, Self> ? UnknownField<Rest, Self> : `self.${Word<Rest>}`
  : never;

/** The path at the beginning of a text, up to the next space or bracket. */
type Word<Text extends string> = Text extends `${infer First}${")" | " " | "," | "]"}${string}` ? Word<First> : Text;

/** What can follow the name of a field in CEL. */
type AfterName =
  | "."
  | "["
  | ")"
  | "]"
  | "}"
  | " "
  | ","
  | "="
  | "!"
  | "<"
  | ">"
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "?"
  | ":"
  | "&"
  | "|"
  | "\n";

/**
 * Whether a text begins with a path of fields. Lists, maps, texts and numbers have methods, so the path ends there. Of a union one
 * type is enough, because its CRD has the fields of all of them.
 */
type HasFields<Text extends string, Value> = unknown extends Value ? true
  : Text extends `${"?" | "__"}${string}` ? true
  : Value extends readonly unknown[] ? true
  : Value extends object ? string extends keyof Value ? true
    : [FieldAt<Text, Value>] extends [never] ? false
    : Text extends `${FieldAt<Text, Value>}.${infer Rest}`
      ? HasFields<Rest, NonNullable<Value[FieldAt<Text, Value> & keyof Value]>>
    : true
  : true;

/** The field of an object that a text begins with. */
type FieldAt<Text extends string, Value extends object> = {
  [Name in keyof Value & string]-?: Text extends Name | `${Name}${AfterName}${string}` ? Name : never;
}[keyof Value & string];
