/**
 * Attacks on `new`: links where its files go, names that lead elsewhere, and an end at any moment.
 *
 * The rules: no file outside of the folder is written, and no link is followed or replaced; a name that is no name is
 * refused with a reason; whenever the command ends, the folder is complete or does not exist.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { packageCommands } from "../../src/cli/package_cli.ts";
import {
  type CommandResult,
  createProcess,
  runCommandLine,
  startCommandLine,
} from "../../src/cli/testing/run_command.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

const operator = { name: "op", version: "1.0.0", controllers: [] };

async function call(...args: readonly string[]): Promise<CommandResult> {
  return await runCommandLine(operator, args, { commands: packageCommands });
}

class Folder implements Disposable {
  readonly path = mkdtempSync("/tmp/pintle-new-");

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The names of the files of a new project. */
async function projectFiles(): Promise<readonly string[]> {
  using folder = new Folder();
  await call("new", "shop", "--dir", join(folder.path, "shop"));
  return readdirSync(join(folder.path, "shop")).sort();
}

test("[security 6] new follows and replaces no link, wherever it leads", async () => {
  const names = await projectFiles();
  assert(names.length >= 9);
  for (const name of [...names, ""]) {
    for (const target of ["file", "folder", "nothing", "itself"]) {
      using folder = new Folder();
      mkdirSync(join(folder.path, "outside"));
      writeFileSync(join(folder.path, "outside", "file"), "theirs");
      mkdirSync(join(folder.path, "outside", "folder"));
      const site = join(folder.path, "site");
      if (name !== "") mkdirSync(site);
      const link = join(site, name);
      symlinkSync(target === "itself" ? link : join(folder.path, "outside", target), link);
      const { code, err } = await call("new", "shop", "--dir", site);
      // A folder of the user may be a link to a folder.
      const isAllowed = name === "" && target === "folder";
      assertEquals(code, isAllowed ? 0 : 1, `${name} ${target}: ${err}`);
      assert(lstatSync(link).isSymbolicLink(), `${name} ${target}`);
      assertEquals(readdirSync(join(folder.path, "outside")).sort(), ["file", "folder"]);
      if (isAllowed) continue;
      assertMatch(err, /^op: Cannot write [^\n]+\. Nothing was written\.[^\n]*\n$/);
      if (name !== "") assertEquals(readdirSync(site), [name]);
    }
  }
});

test("[security 6] new refuses names that are no names, and writes nothing", async () => {
  using folder = new Folder();
  const names = [
    "",
    ".",
    "..",
    "../x",
    "/x",
    "a/b",
    "a\\b",
    "-",
    "a-",
    "A",
    "é",
    "a b",
    "a\nb",
    "con\u0000",
    "x".repeat(41),
  ];
  const dir = join(folder.path, "site");
  for (const name of names) {
    const lines = [[name], ["shop", "--kind", name], ["shop", "--group", name], ["shop", "--owns", name]];
    for (const line of lines) {
      if (line.length > 1 && name === "A") continue;
      const { code, err } = await call(
        ...["new", "--dir", dir, "--", ...line].filter((word) => word !== "--" || line.length === 1),
      );
      assertEquals(code, 2, `${line.join(" ")}: ${err}`);
      assertMatch(err, /^op: Cannot [^\n]+\n$/);
    }
  }
  for (const name of ["a\u001b[2J", "a\nb", "a\u0000b"]) {
    const { code, err } = await call("new", "shop", "--dir", join(folder.path, name));
    assertEquals([code, /^op: Cannot [^\n]+\n$/.test(err)], [2, true], err);
  }
  assertEquals(readdirSync(folder.path), []);
});

test("[61] a signal at any moment of new leaves a complete folder or none, and the exit code is 128 and its number", async () => {
  const names = await projectFiles();
  const codes = new Set<number>();
  for (const [signal, ended] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131], ["SIGTERM", 143]] as const) {
    for (const isNew of [true, false]) {
      for (let turns = 0; turns < 24; turns += 2) {
        using folder = new Folder();
        const dir = join(folder.path, "a", "shop");
        if (!isNew) mkdirSync(dir, { recursive: true });
        const process = createProcess(["new", "shop", "--dir", dir]);
        const ending = startCommandLine(operator, process, undefined, packageCommands);
        let code: number | undefined;
        ending.then((value) => code = value);
        while (code === undefined && !process.hasSignalListeners) await process.clock.advance(0);
        for (let turn = 0; turn < turns; turn++) await process.clock.advance(0);
        process.signal(signal);
        while (code === undefined) {
          // A killed process would leave what is there now.
          if (isNew && existsSync(dir)) assertEquals(readdirSync(dir).sort(), names);
          await process.clock.advance(0);
        }
        codes.add(code);
        assert(code === 0 || code === ended, `${signal} ${turns}: ${code} ${process.err}`);
        const found = existsSync(dir) ? readdirSync(dir).sort() : undefined;
        assertEquals(found, code === 0 ? names : isNew ? undefined : [], `${signal} ${turns}`);
        if (code !== 0 && isNew) assertEquals(readdirSync(folder.path), []);
      }
    }
  }
  assert(codes.size >= 4, [...codes].join(" "));
});
