/**
 * `new`: the first files of a controller of one's own: a kind, what it means, a controller, a program, a sample and a test
 * that passes at once. What it writes is as `deno fmt`, `deno lint` and `deno check` want it.
 *
 * Guarantees: nothing that is there is written over; all files are written, or none; no cluster is asked.
 */
import { joinPath, processFacts, relativePath, resolvePath } from "../runtime/mod.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { childrenOf } from "./new/children.ts";
import { findLibrary, type Library } from "./new/library.ts";
import { namesOf } from "./new/names.ts";
import { type NewFlags, newFlags } from "./new/new_flags.ts";
import { type ProjectFile, writeProject } from "./new/project_files.ts";
import { denoJsonText, gitignoreText, readmeText, sampleText } from "./new/project_texts.ts";
import { controllerText, desiredText, mainText, resourceText, type Subject } from "./new/source_texts.ts";
import { testText } from "./new/test_text.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { UsageError } from "./usage_error.ts";

/** The command. */
export const newController = subcommand({
  description: [
    "Writes the first files of a controller of your own: kind, controller, program, sample, and a test",
    "that passes at once. Nothing that is there is written over.",
  ].join("\n"),
  words: { syntax: "[name]", about: "name of the controller, of its program and of its folder", choices: [] },
  examples: [
    { line: "website", about: "the kind Website, one Deployment for each" },
    { line: "website --owns Deployment --owns Service --group example.com", about: "two objects for each" },
    { line: "web-site --kind Site --dir operators/site --dry-run", about: "see what would be written" },
  ],
  flags: newFlags,
  run: write,
});

async function write({ words, flags, session }: Call<NewFlags>): Promise<ExitCode> {
  const subject = subjectOf(words, flags);
  const library = await findLibrary(flags.library);
  const shown = flags.dir ?? subject.names.controller;
  const folder = resolvePath(processFacts().workingDirectory, shown);
  const files = filesOf(subject, library, folder);
  if (flags.dryRun) {
    const printed = files.map(({ name, text, ...file }) => `==> ${joinPath(shown, name)} <==\n${file.shown ?? text}`);
    session.print(printed.join("\n"));
    return exitCode.done;
  }
  await writeProject(folder, files);
  session.print(files.map(({ name }) => `${joinPath(shown, name)}\n`).join(""));
  session.say(`next: cd ${shown} && deno task test && deno task dev`);
  return exitCode.done;
}

function subjectOf(words: readonly string[], { kind, group, owns }: NewFlags): Subject {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    const state = name === undefined ? "it has no name" : `"${more[0]}" is one name too many`;
    throw new UsageError(`Cannot write a controller: ${state}`, "Example: new website");
  }
  return { names: namesOf({ name, kind, group }), children: childrenOf(owns.length === 0 ? ["Deployment"] : owns) };
}

function filesOf(
  subject: Subject,
  { folder: library, version, lock }: Library,
  folder: string,
): readonly ProjectFile[] {
  const link = linkOf(library, folder);
  return [
    { name: "resource.ts", text: resourceText(subject) },
    { name: "desired.ts", text: desiredText(subject) },
    { name: "controller.ts", text: controllerText(subject) },
    { name: "controller_test.ts", text: testText(subject) },
    { name: "sample.json", text: sampleText(subject) },
    { name: "main.ts", text: mainText(subject) },
    { name: "deno.json", text: denoJsonText(subject, link, version) },
    { name: ".gitignore", text: gitignoreText() },
    { name: "README.md", text: readmeText(subject, link) },
    // So that packages of packages, too, have the versions that the library was tested with.
    ...(lock === undefined ? [] : [{ name: "deno.lock", text: lock, shown: "(that of the library)\n" }]),
  ];
}

/** A neighbour is named by the way to it, so that both may move together; what is far away by its own path. */
function linkOf(library: string, folder: string): string {
  const way = relativePath(folder, library);
  return way.startsWith("../../../") ? library : way;
}
