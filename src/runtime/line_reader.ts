/** Standard input, line by line: what somebody answers to a question. Nothing is read before it is asked for. */
import process from "node:process";

/** Where answers come from. */
export interface LineReader {
  /** True when a person is there to answer. */
  readonly isTerminal: boolean;
  /** The next line without its end; undefined when there is none any more. */
  readLine(): Promise<string | undefined>;
}

/** The process's standard input. */
export const standardInput: LineReader = {
  get isTerminal() {
    return process.stdin.isTTY === true;
  },
  async readLine() {
    // Loaded when somebody is asked: no other command needs it.
    const { createInterface } = await import("node:readline");
    return await new Promise((resolve) => {
      const lines = createInterface({ input: process.stdin });
      lines.once("line", (line) => {
        resolve(line);
        lines.close();
      });
      lines.once("close", () => resolve(undefined));
    });
  },
};
