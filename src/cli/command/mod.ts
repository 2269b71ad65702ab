/** What every command is made of: the operator, its process, the session of one call, exit codes and the subcommand itself. */
export { CommandError, type ExitCode, exitCode, exitCodeList, failureOf } from "./exit_code.ts";
export { configureHelp, helpText } from "./help.ts";
export { endingSignals, listenForInterrupts } from "./interrupts.ts";
export { type CommandLine, leadingFlagAdvice, misplacedCommandError, unknownCommandError } from "./misplaced_words.ts";
export {
  defaultNamespace,
  type Operator,
  type OperatorEndpoints,
  type ProcessEnvironment,
  processEnvironmentWith,
  type ProcessInput,
  type ProcessOutput,
  webhookConfigurationName,
  webhookServiceName,
} from "./operator.ts";
export { runChild } from "./run_child.ts";
export { crdsOf, selectControllers, selectNamedOrAll, selectOrAll } from "./select_controllers.ts";
export { Session } from "./session.ts";
export {
  type Call,
  type CompletionWord,
  type ConfigurationFile,
  type ExtraFlags,
  type FlagGroup,
  type FlagValues,
  type Subcommand,
  subcommand,
  type SubcommandEntry,
} from "./subcommand.ts";
