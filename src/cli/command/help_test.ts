import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { podController, websiteController } from "../testing/test_kinds.ts";
import { subcommands } from "../operator_cli.ts";
import { runCommandLine, type RunOptions } from "../testing/run_command.ts";

const operator = { name: "controller", version: "1.2.3", controllers: [websiteController, podController] };

async function helpLines(args: readonly string[], options: RunOptions): Promise<readonly string[]> {
  const { code, out, err } = await runCommandLine(operator, args, options);
  assertEquals([code, err], [0, ""], args.join(" "));
  return out.trimEnd().split("\n");
}

/** A line that may be longer: a word that does not fit, or a command line. */
function mayBeLonger(line: string): boolean {
  return /^ *\S+$/.test(line) || / {2,}\S+$/.test(line) || /^(Usage:| ) controller /.test(line);
}

/** True when the first word of `next` would have fitted behind `line`, both of one paragraph with the same indent. */
function isBrokenEarly(line: string, next: string, width: number): boolean {
  const [indent, word = ""] = /^(?: *)(?:# )?/.exec(next)?.[0] === /^(?: *)(?:# )?/.exec(line)?.[0]
    ? ["", next.trim().replace(/^# /, "").split(" ")[0]]
    : [undefined];
  return indent !== undefined && `${line} ${word}`.length <= width;
}

test("[103] help of all commands fits the terminal's width", async () => {
  for (const columns of [50, 80, 132]) {
    for (const args of [["--help"], ...subcommands.map(({ name }) => [name, "--help"])]) {
      const lines = await helpLines(args, { terminal: { isTerminal: true, columns } });
      const longer = lines.filter((line) => line.length > columns && !mayBeLonger(line));
      assertEquals(longer, [], `${args.join(" ")} at ${columns}`);
    }
  }
});

test("[103] help is wrapped once: no line of a description ends before the width", async () => {
  for (const columns of [50, 80, 132]) {
    for (const { name } of subcommands) {
      const lines = await helpLines([name, "--help"], { terminal: { isTerminal: true, columns } });
      const description = lines.slice(2, lines.findIndex((line) => /^(Arguments|Options):$/.test(line)));
      const environment = lines.slice(lines.indexOf("Environment:") + 1, lines.indexOf("Examples:"));
      for (const paragraph of [description, environment]) {
        const early = paragraph.filter((line, index) =>
          line !== "" && (paragraph[index + 1] ?? "") !== "" && isBrokenEarly(line, paragraph[index + 1] ?? "", columns)
        );
        assertEquals(early, [], `${name} at ${columns}`);
      }
    }
  }
});

test("[103] help in a pipe is wrapped for COLUMNS, else for 100 columns", async () => {
  const widest = async (environment: Readonly<Record<string, string>>) => {
    const lines = await helpLines(["run", "--help"], { environment });
    return Math.max(...lines.filter((line) => !mayBeLonger(line)).map((line) => line.length));
  };
  const [narrow, usual] = [await widest({ COLUMNS: "60" }), await widest({})];
  assert(narrow <= 60 && narrow > 50, `${narrow}`);
  assert(usual <= 100 && usual > 90, `${usual}`);
});

test("[103] the command line of an example stays one line to be copied", async () => {
  const lines = await helpLines(["run", "--help"], { terminal: { isTerminal: true, columns: 40 } });
  assertStringIncludes(lines.join("\n"), "\n  controller run website -n team-a -n team-b --workers 4\n");
});
