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
}

/** The flags of a command. */
export type FlagSchema = z.ZodObject;

/** Where the syntax of every flag is kept: `schema.register(flagSyntax, { flags: "--all", ... })`. */
export const flagSyntax = z.registry<FlagSyntax>();

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
    return { ...syntax, key, longName, isSwitch: !syntax.flags.includes("<"), defaultText: defaultTextOf(field) };
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
