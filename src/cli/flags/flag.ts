/**
 * A flag is a zod schema with a syntax attached. A command's flags are one zod object: its keys name the values, its
 * schemas check them, and the registry below says how each is typed on a command line and shown in help.
 *
 * One place per flag; commander's options (`commander_options.ts`) and the environment's names are derived from it.
 */
import { z } from "zod";

/** How a flag looks from outside. */
export interface FlagSyntax {
  /** As commander writes it: `-n, --namespace <name>`; no `<value>` makes it a switch. Its long name, in camel case, is the key. */
  readonly flags: string;
  /** One sentence for help, lower case, without a period. */
  readonly about: string;
  /** What a correct use looks like; shown when the value is refused. */
  readonly example?: string;
  /** "list": may be given several times. "count": a switch that counts. @default "one" */
  readonly arity?: "one" | "list" | "count";
  /** Another long name for it, not shown in help: `--master`. */
  readonly alias?: string;
  /** Heading in help. @default "Options:" */
  readonly group?: string;
  /** Whether it may also come from the environment, as PREFIX_LONG_NAME. @default false */
  readonly fromEnvironment?: boolean;
  /** Its value is never shown, not even in an error. @default false */
  readonly isSecret?: boolean;
  /** What a shell offers as its value. @default the words of an enumeration, else nothing */
  readonly completes?: "file" | "directory" | "context" | "cluster" | "user" | "namespace";
}

/** The flags of a command. */
export type FlagSchema = z.ZodObject;

/** Where the syntax of every flag is kept: `schema.register(flagSyntax, { flags: "--all", ... })`. */
export const flagSyntax = z.registry<FlagSyntax>();

/**
 * Makes one flag of a controller's own (see `withFlags`): a schema that knows how it is typed. Unless `syntax` says
 * otherwise it can also come from the environment, as PREFIX_LONG_NAME.
 *
 * @param schema Takes the text that was typed, or a boolean where the syntax has no `<value>`.
 * @example
 * ```ts
 * import { flag, z } from "@pintle/controller";
 *
 * const flags = z.object({
 *   dryRun: flag(z.boolean().default(false), { flags: "--dry-run", about: "change nothing" }),
 *   hosts: flag(z.array(z.string()).default([]), { flags: "--hosts <name>", about: "hosts to serve", arity: "list" }),
 * });
 * console.assert(flags.parse({}).hosts.length === 0);
 * ```
 */
export function flag<Schema extends z.ZodType>(schema: Schema, syntax: FlagSyntax): Schema {
  flagSyntax.add(schema, { fromEnvironment: true, ...syntax });
  return schema;
}

/** One flag of a command. */
export interface Flag extends FlagSyntax {
  /** Name of its value. */
  readonly key: string;
  /** As it is typed: `--namespace`. */
  readonly longName: string;
  /** True when it takes no value. */
  readonly isSwitch: boolean;
  /** What is assumed where it is not given, as text; undefined when that is nothing. */
  readonly defaultText: string | undefined;
  /** The words it takes, where these are few. */
  readonly choices: readonly string[];
}

/** The flags of a command, in the order of its schema. @throws TypeError when one has no syntax */
export function flagsOf(schema: FlagSchema): readonly Flag[] {
  return Object.entries(schema.shape).map(([key, field]) => {
    const syntax = flagSyntax.get(field);
    if (syntax === undefined) throw new TypeError(`Cannot define flag "${key}": its schema is not in the registry`);
    const longName = /--[a-z-]+/.exec(syntax.flags)?.[0];
    if (longName === undefined || camelCase(longName) !== key) {
      throw new TypeError(`Cannot define flag "${key}": its syntax "${syntax.flags}" has another long name`);
    }
    const isSwitch = !syntax.flags.includes("<");
    return { ...syntax, key, longName, isSwitch, defaultText: defaultTextOf(field), choices: choicesOf(field) };
  });
}

/** `CONTROLLER_LOG_FORMAT` for `--log-format` of the operator `controller`. */
export function environmentName(operatorName: string, flag: Pick<Flag, "longName">): string {
  return `${operatorName}${flag.longName.slice(1)}`.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

function camelCase(longName: string): string {
  return longName.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function defaultTextOf(field: z.core.$ZodType): string | undefined {
  if (!(field instanceof z.ZodPrefault || field instanceof z.ZodDefault)) return undefined;
  const { defaultValue } = field.def;
  return typeof defaultValue === "string" || typeof defaultValue === "number" ? String(defaultValue) : undefined;
}

/** The members of an enumeration, whatever is wrapped around it. */
function choicesOf(field: z.core.$ZodType): readonly string[] {
  if (field instanceof z.ZodEnum) return field.options.map(String);
  const isWrapper = field instanceof z.ZodOptional || field instanceof z.ZodPrefault || field instanceof z.ZodDefault;
  return isWrapper ? choicesOf(field.def.innerType) : [];
}
