/** The command line of an operator: one call that turns a list of controllers into a program. */
export { type ExitCode, exitCode } from "./exit_code.ts";
export { flag, type FlagSyntax } from "./flag.ts";
export type { Operator, OperatorEndpoints, Surroundings } from "./operator.ts";
export { operatorCli } from "./operator_cli.ts";
