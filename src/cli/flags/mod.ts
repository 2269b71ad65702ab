/** TODO */
export { addFlags, readFlags, typedFlags, UsageError } from "./commander_options.ts";
export { environmentName, type Flag, flag, type FlagSchema, flagsOf, type FlagSyntax, flagSyntax } from "./flag.ts";
export { durationMs, durationMsOrForever, formatDuration, oneOf, text, wholeNumber } from "./flag_values.ts";
