/**
 * The layout of help: its width, and the texts after the flags, which commander does not lay out.
 *
 * Guarantees: no line is longer than the terminal is wide, so that the terminal does not wrap it a second time. Exceptions
 * are a word that is longer, and the command line of an example, which must stay one line to be copied.
 */
import { type AddHelpTextContext, type CommandUnknownOpts, Help } from "@commander-js/extra-typings";
import type { FullProcessEnvironment } from "./operator.ts";

/** The width of help that no terminal shows. */
const widthWithoutTerminal = 100;
/** With less width beside the flags, their descriptions get lines of their own. */
const minDescriptionWidth = 30;
/** Narrower text would be one word for each line. */
const minWidthToWrap = 16;

/** Makes a command and those that are added to it later print their help with the layout of this file. */
export function configureHelp(root: CommandUnknownOpts, { stdout, stderr, environment }: FullProcessEnvironment): void {
  // Help in a pipe usually ends on the same terminal, such as with `| less`.
  const width = () => stdout.columns ?? stderr.columns ?? (Number(environment.COLUMNS) || widthWithoutTerminal);
  root.configureHelp({ minWidthToWrap, formatItem }).configureOutput({
    getOutHelpWidth: width,
    getErrHelpWidth: width,
  });
}

/** Formats a flag and its description: beside each other where there is enough width. */
function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const { helpWidth = widthWithoutTerminal } = helper;
  const indent = " ".repeat(6);
  const isWide = helpWidth - termWidth - 4 >= minDescriptionWidth;
  if (isWide || description === "") return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const wrapped = helper.boxWrap(description, helpWidth - indent.length);
  return `  ${term}\n${indent}${wrapped.replaceAll("\n", `\n${indent}`)}`;
}

/**
 * Wraps a text of the help of a command.
 *
 * @param indent What begins the first line.
 * @param hanging What begins the others. @default as many spaces
 */
export function helpText(
  { command }: AddHelpTextContext,
  text: string,
  indent = "",
  hanging: string = " ".repeat(indent.length),
): string {
  const helper = command.createHelp();
  const width = Math.max(command.configureOutput().getOutHelpWidth?.() ?? widthWithoutTerminal, minWidthToWrap);
  return indent + helper.boxWrap(text, width - indent.length).replaceAll("\n", `\n${hanging}`);
}
