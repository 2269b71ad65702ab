/** The command line of an operator: one call that turns a list of controllers into a program. */
export {
  type ExitCode,
  exitCode,
  type Operator,
  type OperatorEndpoints,
  type ProcessEnvironment,
  type ProcessInput,
  type ProcessOutput,
} from "./command/mod.ts";
export { flag, type FlagSyntax } from "./flags/mod.ts";
export { operatorCli } from "./operator_cli.ts";
export { packageCli } from "./package_cli.ts";
