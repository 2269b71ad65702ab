import { assertEquals, test } from "../../../tests/testing.ts";
import { podController, websiteController } from "../testing/test_kinds.ts";
import { subcommands } from "../operator_cli.ts";
import { misplacedCommandError } from "./misplaced_words.ts";

const operator = { name: "op", controllers: [websiteController, podController] };

async function misplaced(text: string, words: readonly string[]): Promise<string | undefined> {
  const args = text.split(" ");
  const command = await subcommands.find(({ name }) => name === args[0])?.load();
  return command && misplacedCommandError({ args, operator, table: subcommands }, words, command)?.message;
}

test("words of another program, values of flags and new names are no misplaced commands", async () => {
  assertEquals(await misplaced("dev website -- run doctor", ["website", "run", "doctor"]), undefined);
  assertEquals(await misplaced("run -n doctor website", ["website"]), undefined);
  assertEquals(await misplaced("new doctor", ["doctor"]), undefined);
  assertEquals(await misplaced("completions bash", ["bash"]), undefined);
});

test("a command among the controllers is misplaced, unless a controller has its name", async () => {
  const message = 'Cannot use "doctor" as a controller: it is a command';
  assertEquals(await misplaced("run website doctor", ["website", "doctor"]), message);
  assertEquals(await misplaced("dev doctor -- ls", ["doctor", "ls"]), message);
  const doctor = { ...websiteController, name: "doctor" };
  const command = await subcommands.find(({ name }) => name === "run")?.load();
  const line = { args: ["run", "doctor"], operator: { ...operator, controllers: [doctor] }, table: subcommands };
  assertEquals(command && misplacedCommandError(line, ["doctor"], command), undefined);
});
