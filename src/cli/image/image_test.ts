/** Bad input of `image`. tests/e2e/image_test.ts writes real images. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import type { Environment } from "../../runtime/mod.ts";
import { packageCommands } from "../package_cli.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { elfFile, type ElfFileOptions } from "./testing/elf_file.ts";

const operator = { name: "controller", version: "1.2.3", controllers: [] };

const amd64 = { machine: 62, loader: "/lib64/ld-linux-x86-64.so.2", libraries: ["libc.so.6", "ld-linux-x86-64.so.2"] };

/** A temporary folder with a program. */
class Folder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<Folder> {
    return new Folder(await mkdtemp(join(tmpdir(), "pintle-image-")));
  }

  /** Writes a program. @returns its path */
  async program(options: ElfFileOptions = amd64, name = "website"): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, elfFile(options));
    return path;
  }

  /** Runs `image`; the archive would be in this folder. The network cannot be reached. */
  async image(words: readonly string[], environment: Environment = {}): Promise<CommandResult> {
    const added = Object.entries({ "--output": join(this.path, "website.tar"), "--mirror": "http://127.0.0.1:1" });
    const others = added.filter(([flag]) => !words.includes(flag)).flat();
    const cache = { XDG_CACHE_HOME: join(this.path, "no-cache"), PATH: "/nonexistent" };
    const line = ["image", ...words, ...others];
    return await runCommandLine(operator, line, {
      commands: packageCommands,
      environment: { ...cache, ...environment },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}

async function assertRefused(result: Promise<CommandResult>, code: number, message: RegExp): Promise<void> {
  const { code: actual, out, err } = await result;
  assertMatch(err, message);
  assertEquals([actual, out, err.trimEnd().split("\n").length], [code, "", 1], err);
}

test("image refuses a platform that it does not know, and names those it does", async () => {
  await using folder = await Folder.make();
  for (const words of ["windows/amd64", "linux/amd64,linux/s390x", "linux/amd64,", "amd64"]) {
    await assertRefused(
      folder.image(["--platform", words]),
      2,
      /^controller: Cannot write an image for ".*": the platforms are linux\/amd64 and linux\/arm64\. Example: --platform /,
    );
  }
});

test("image refuses a main module that does not exist", async () => {
  await using folder = await Folder.make();
  await assertRefused(
    folder.image(["--entry", join(folder.path, "none.ts")]),
    2,
    /Cannot compile ".*none\.ts": there is no such file\. Name the main module/,
  );
});

test("image refuses a program that is missing, or that is no program for Linux", async () => {
  await using folder = await Folder.make();
  const script = join(folder.path, "script");
  await writeFile(script, "#!/bin/sh\n");
  await assertRefused(
    folder.image(["--binary", join(folder.path, "none")]),
    2,
    /Cannot read the program ".*none": .*ENOENT/,
  );
  await assertRefused(folder.image(["--binary", folder.path]), 2, /Cannot read the program "/);
  await assertRefused(
    folder.image(["--binary", script]),
    2,
    /Cannot put ".*script" into an image: it is not a program for Linux/,
  );
  const riscv = await folder.program({ machine: 243 }, "riscv");
  await assertRefused(
    folder.image(["--binary", riscv]),
    2,
    /it is for another processor than linux\/amd64 and linux\/arm64/,
  );
});

test("image refuses two programs for one platform, and a platform without a program", async () => {
  await using folder = await Folder.make();
  const [one, two] = [await folder.program(), await folder.program(amd64, "other")];
  await assertRefused(folder.image(["--binary", one, "--binary", two]), 2, /another program is for linux\/amd64, too/);
  await assertRefused(folder.image(["--binary", one, "--platform", "linux/arm64"]), 2, /no --binary is for it/);
});

test("image refuses a program that could not start in it", async () => {
  await using folder = await Folder.make();
  const musl = await folder.program({ ...amd64, loader: "/lib/ld-musl-x86_64.so.1" }, "musl");
  const cpp = await folder.program({ ...amd64, libraries: ["libc.so.6", "libstdc++.so.6"] }, "cpp");
  await assertRefused(
    folder.image(["--binary", musl]),
    2,
    /it needs the loader \/lib\/ld-musl-x86_64\.so\.1, and the image has \/lib64\//,
  );
  await assertRefused(folder.image(["--binary", cpp]), 2, /it needs libstdc\+\+\.so\.6, which the image does not have/);
});

test("image refuses a name, a tag, a label, a version, a mirror and a time that it cannot use", async () => {
  await using folder = await Folder.make();
  const binary = ["--binary", await folder.program()];
  const refused: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [["--image", "Website"], /Cannot name an image "Website": "Website" has upper-case letters\. Example: --image /],
    [["--image", "website:a b"], /Cannot name an image "website:a b": its tag "a b"/],
    [["--label", "=x"], /Cannot parse --label "=x": it is not a key, = and a value/],
    [["--mirror", "ftp://mirror"], /Cannot parse --mirror "ftp:\/\/mirror": it is not a URL that begins with http/],
    [["--stamp", "1 2"], /Cannot use the version "1 2"/],
  ];
  for (const [words, message] of refused) await assertRefused(folder.image([...binary, ...words]), 2, message);
  for (const time of ["yesterday", "-1", "1.5", "99999999999"]) {
    await assertRefused(
      folder.image(binary, { SOURCE_DATE_EPOCH: time }),
      2,
      /Cannot use SOURCE_DATE_EPOCH ".*": it is not a number of seconds/,
    );
  }
});

test("image refuses an output that it cannot write, before it fetches or compiles anything", async () => {
  await using folder = await Folder.make();
  const binary = ["--binary", await folder.program()];
  await assertRefused(
    folder.image([...binary, "--output", folder.path]),
    2,
    /Cannot write ".*": it is a folder\. Name a file/,
  );
  const below = join(binary[1] ?? "", "x", "website.tar");
  await assertRefused(
    folder.image([...binary, "--output", below]),
    1,
    /Cannot write ".*": .*ENOTDIR.*Name another file with --output/,
  );
  assertEquals(await readdir(folder.path), ["website"]);
});

test("image leaves no file when a package cannot be fetched, and keeps an archive of before", async () => {
  await using folder = await Folder.make();
  await writeFile(join(folder.path, "website.tar"), "before");
  await mkdir(join(folder.path, "website.tar.building"));
  const { code, err } = await folder.image(["--binary", await folder.program()]);
  assertEquals(code, 1);
  assertStringIncludes(err, "controller: Cannot fetch the package ca-certificates ");
  assertEquals(await readdir(folder.path), ["website", "website.tar"]);
});
