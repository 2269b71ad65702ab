/** Flags of commands: how they are declared, what values they take, and how commander and the environment supply them. */
export {
  addFlags,
  type FileValue,
  type FileValues,
  type FlagSources,
  readFlags,
  readSettings,
  type Setting,
  typedFlags,
  UsageError,
} from "./commander_options.ts";
export {
  commandLineOnly,
  environmentName,
  type Flag,
  flag,
  type FlagSchema,
  flagsOf,
  type FlagSyntax,
} from "./flag.ts";
export {
  addressRange,
  durationMs,
  durationMsOrForever,
  formatDuration,
  hostName,
  label,
  labelSelector,
  namespaceName,
  objectName,
  oneOf,
  text,
  type Toleration,
  toleration,
  wholeNumber,
} from "./flag_values.ts";
