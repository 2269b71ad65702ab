/**
 * A flag is a zod schema with a syntax attached. The flags of a command are one zod object: its keys name the values, its
 * schemas parse and check them, and the syntax says how each flag is typed and how help describes it.
 *
 * Guarantees: `flag()` is the only way to declare a flag. The type of its value, its parser, its line in help, its
 * environment variable and its completion all follow from that one declaration.
 */
import { z } from "zod";

/** How a flag is typed and described; the second argument of {@link flag}. */
export interface FlagSyntax {
  /**
   * In the notation of commander: `-n, --namespace <name>`; a flag without a `<value>` is a switch. The key of the flag is
   * its long name in camel case.
   */
  readonly flags: `--${string}` | `-${string}, --${string}`;
  /** One sentence for help: lower case, no full stop. */
  readonly about: string;
  /** A correct use, shown when the value is rejected. */
  readonly example?: string;
  /** "list": may be repeated. "count": a switch whose uses are counted. @default "one" */
  readonly arity?: "one" | "list" | "count";
  /** Another long name, not shown in help: `--master`. */
  readonly alias?: string;
  /** The heading in help. @default "Options:" */
  readonly group?: string;
  /** Whether the value can also come from the environment, as PREFIX_LONG_NAME. @default true */
  readonly fromEnvironment?: boolean;
  /** Never shows the value, not even in an error message. @default false */
  readonly isSecret?: boolean;
  /** Whether a running process takes a new value from its configuration file. @default false: with the next start */
  readonly isReloadable?: boolean;
  /** What shell completion offers as a value. @default `choices` */
  readonly completes?: "file" | "directory" | "context" | "cluster" | "user" | "namespace" | "controller" | "workload";
  /** Values that shell completion offers. @default the words of the schema, as those of an enumeration; else none */
  readonly choices?: readonly string[];
}

/** The flags of a command. */
export type FlagSchema = z.core.$ZodObject;

/** The part of a syntax that keeps a flag out of the environment: spread it into the syntax of one-time switches. */
export const commandLineOnly = { fromEnvironment: false } as const;

const syntaxes = z.registry<FlagSyntax>();

/**
 * Declares a flag. Unless `syntax` says otherwise, its value can also come from the environment, as PREFIX_LONG_NAME.
 * Controllers declare their own flags with it, too: see `withFlags`.
 *
 * @param schema Parses the typed text, or a boolean where the syntax has no `<value>`.
 * @returns The same schema, for a `z.object` of flags.
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
export function flag<Schema extends z.core.$ZodType>(schema: Schema, syntax: FlagSyntax): Schema {
  syntaxes.add(schema, { fromEnvironment: true, ...syntax });
  return schema;
}

/** A flag of a command: its syntax, and what follows from its schema. */
export interface Flag extends FlagSyntax {
  /** The name of its value. */
  readonly key: string;
  /** `--namespace`. */
  readonly longName: string;
  /** True when it takes no value. */
  readonly isSwitch: boolean;
  /** The default as text; undefined when there is none to show. */
  readonly defaultText: string | undefined;
  /** The values that the schema names; empty for all other flags. */
  readonly choices: readonly string[];
}

/** Returns the flags of a command, in the order of its schema. @throws TypeError when a field was not made by `flag()` */
export function flagsOf(schema: FlagSchema): readonly Flag[] {
  return Object.entries(schema._zod.def.shape).map(([key, field]) => {
    const syntax = syntaxes.get(field);
    if (syntax === undefined) throw new TypeError(`Cannot define flag "${key}": it was not declared with flag()`);
    const longName = /--[a-z-]+/.exec(syntax.flags)?.[0];
    if (longName === undefined || camelCase(longName) !== key) {
      throw new TypeError(`Cannot define flag "${key}": its syntax "${syntax.flags}" has another long name`);
    }
    const isSwitch = !syntax.flags.includes("<");
    return {
      ...syntax,
      key,
      longName,
      isSwitch,
      defaultText: defaultTextOf(field),
      choices: syntax.choices ?? choicesOf(field),
    };
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

/** The words that a schema accepts as text: it looks through lists, unions and all wrappers around an enumeration. */
function choicesOf(field: z.core.$ZodType): readonly string[] {
  if (field instanceof z.ZodEnum) return field.options.map(String);
  if (field instanceof z.ZodLiteral) return [...field.values].map(String);
  if (field instanceof z.ZodArray) return choicesOf(field.def.element);
  if (field instanceof z.ZodPipe) return choicesOf(field.def.in);
  if (field instanceof z.ZodUnion) return field.def.options.flatMap(choicesOf);
  const isWrapper = field instanceof z.ZodOptional || field instanceof z.ZodNullable ||
    field instanceof z.ZodPrefault ||
    field instanceof z.ZodDefault || field instanceof z.ZodCatch || field instanceof z.ZodReadonly;
  return isWrapper ? choicesOf(field.def.innerType) : [];
}
