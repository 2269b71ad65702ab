/**
 * `new`: writes the first files of your own controller: a kind, its desired state, a controller, a program, a sample and
 * tests that pass. The files pass `deno fmt`, `deno lint` and `deno check`.
 *
 * Guarantees: no existing file is overwritten; all files are written, or none; no cluster is needed.
 */
import { z } from "zod";
import { commandLineOnly, flag, oneOf, text, UsageError } from "../flags/mod.ts";
import { joinPath, processFacts, readText, relativePath, resolvePath, runtimeName } from "../../runtime/mod.ts";
import { type Call, type ExitCode, exitCode, listenForInterrupts, type Session, subcommand } from "../command/mod.ts";
import { hasControls } from "../../observe/mod.ts";
import { shellWord } from "../output/mod.ts";
import { dependentKindNames, selectDependentKinds } from "./dependent_kinds.ts";
import { importKind } from "./imported_kind.ts";
import { checkedVersions, controllerNameFor, deriveNames } from "./names.ts";
import { readDefinition } from "./read_definitions.ts";
import { sampleObject } from "./sample_object.ts";
import { webhooksTestText, webhooksText } from "./webhook_templates.ts";
import { findLibrary, type Library, type ProjectFile, writeProject } from "./project_files.ts";
import {
  firstCommands,
  gitignoreText,
  type LibrarySpec,
  readmeText,
  type Runtime,
  runtimeFiles,
  runtimes,
} from "./runtime_files.ts";
import {
  controllerText,
  conversionTestText,
  conversionText,
  desiredText,
  mainText,
  type ProjectSpec,
  resourceText,
  sampleText,
  testText,
} from "./templates.ts";

const newFlags = z.object({
  kind: flag(text().optional(), {
    ...commandLineOnly,
    flags: "-k, --kind <kind>",
    about: "kind of the objects that it reconciles (default: the name in UpperCamelCase, or that of --from-crd)",
    example: "--kind WebSite",
  }),
  fromCrd: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--from-crd <file>",
    about: "CustomResourceDefinition of the kind, in YAML or JSON; - for standard input; --kind chooses one of several",
    completes: "file",
    example: "--from-crd crd.yaml",
  }),
  group: flag(text().optional(), {
    ...commandLineOnly,
    flags: "-g, --group <domain>",
    about: "API group of the kind: a domain that you own (default: example.dev)",
    example: "--group shop.example.com",
  }),
  versions: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--versions <names>",
    about:
      "versions of the kind, oldest first, with commas; several get a conversion and its tests (default: v1alpha1)",
    example: "--versions v1,v2",
  }),
  webhook: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--webhook",
    about: "also write webhooks for defaults and validation, and their tests",
  }),
  owns: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--owns <kind>",
    about: `kind that it creates for each object: ${
      dependentKindNames.join(", ")
    } (default: Deployment); can be repeated`,
    arity: "list",
    choices: dependentKindNames,
    example: "--owns Deployment --owns Service",
  }),
  dir: flag(text().optional(), {
    ...commandLineOnly,
    flags: "-d, --dir <folder>",
    about: "folder for the files; created if necessary (default: a folder with the name of the controller)",
    completes: "directory",
    example: "--dir operators/website",
  }),
  runtime: flag(oneOf(runtimes).optional(), {
    ...commandLineOnly,
    flags: "--runtime <name>",
    about: `${runtimes.join(", ")}: what tests and runs the files (default: the one that runs this command)`,
    example: "--runtime deno",
  }),
  library: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--library <folder>",
    about: "a clone of Pintle, instead of the package",
    completes: "directory",
    example: "--library ../pintle",
  }),
  dryRun: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--dry-run",
    about: "print the files instead of writing them",
  }),
});

type NewFlags = z.output<typeof newFlags>;

/** The command. */
export const newController = subcommand({
  description: [
    "Writes the first files of your own controller: kind, controller, program, sample, and tests that pass.",
    "Overwrites no existing file.",
  ].join(" "),
  positionals: { syntax: "[name]", about: "name of the controller, its program and its folder", choices: [] },
  examples: [
    { line: "website", about: "a controller of the kind Website, with one Deployment for each" },
    { line: "website --owns Deployment --owns Service --group example.com", about: "two objects for each Website" },
    { line: "website --versions v1,v2", about: "two versions of the kind, and the conversion between them" },
    { line: "backup --kind CronJob --owns Job --webhook", about: "a CronJob of your own, with webhooks" },
    { line: "--from-crd crd.yaml", about: "a controller for the kind of another program" },
    { line: "web-site --kind Site --dir operators/site --dry-run", about: "show what would be written" },
  ],
  flags: newFlags,
  run: writeFiles,
});

async function writeFiles({ positionals, flags, session }: Call<NewFlags>): Promise<ExitCode> {
  const project = await projectOf(positionals, flags, session);
  const runtime = flags.runtime ?? runtimeName;
  const library = await findLibrary(flags.library);
  const shown = flags.dir ?? project.names.controller;
  const folder = resolvePath(processFacts().workingDirectory, shown);
  if (hasControls(shown)) {
    throw new UsageError("Cannot write to the folder of --dir: its name has control characters", "Example: --dir site");
  }
  const files = filesOf(project, { library, folder, runtime });
  if (flags.dryRun) {
    const printed = files.map(({ name, text, ...file }) => `==> ${joinPath(shown, name)} <==\n${file.shown ?? text}`);
    session.printDocument(printed.join("\n"));
    return exitCode.done;
  }
  using interrupts = listenForInterrupts(session, { mode: "undo" });
  const writing = writeProject(folder, files, interrupts.stop);
  const forced = await Promise.race([interrupts.forced, writing]);
  if (forced !== undefined) return forced;
  session.print(...files.map(({ name }) => joinPath(shown, name)));
  session.info(`next: cd ${shellWord(shown)} && ${firstCommands(runtime)}`);
  return exitCode.done;
}

async function projectOf(
  positionals: readonly string[],
  flags: NewFlags,
  session: Session,
): Promise<ProjectSpec> {
  const [name, ...more] = positionals;
  if (more.length > 0) {
    throw new UsageError(`Cannot write a controller: "${more[0]}" is a second name`, "Example: new website");
  }
  if (flags.fromCrd !== undefined) return await importedProject(flags.fromCrd, name, flags, session);
  if (name === undefined) throw new UsageError("Cannot write a controller: it has no name", "Example: new website");
  const { kind, group = "example.dev", owns, versions = "v1alpha1", webhook } = flags;
  return {
    names: deriveNames({ name, kind, group, owned: owns }),
    dependents: selectDependentKinds(owns.length === 0 ? ["Deployment"] : owns),
    versions: checkedVersions(versions),
    hasWebhooks: webhook,
    imported: undefined,
  };
}

/** The project for a kind of another program. It owns a ConfigMap, because nothing is known about the fields of the kind. */
async function importedProject(
  file: string,
  given: string | undefined,
  { kind, group, versions, owns, webhook }: NewFlags,
  session: Session,
): Promise<ProjectSpec> {
  const clash = group !== undefined ? "--group" : versions !== undefined ? "--versions" : undefined;
  if (clash !== undefined) {
    throw new UsageError(`Cannot use ${clash} with --from-crd: the definition has it already`, `Leave out ${clash}`);
  }
  const dependents = selectDependentKinds(owns.length === 0 ? ["ConfigMap"] : owns);
  const source = file === "-" ? "standard input" : file;
  const { crd } = await readDefinition(await definitionText(file, session), source, kind);
  const { kind: importedName } = crd.spec.names;
  const names = deriveNames({
    name: given ?? controllerNameFor(importedName),
    kind: importedName,
    group: crd.spec.group,
    owned: dependents.map((dependent) => dependent.kind),
    isImported: true,
  });
  const imported = importKind(crd, names.type);
  const sample = sampleObject(imported);
  if (sample.problem !== undefined) {
    session.info(`sample.json is not valid yet, complete it before the tests: ${sample.problem}`);
  }
  return {
    names: { ...names, singular: imported.crd.spec.names.singular },
    dependents,
    versions: [imported.version.name],
    hasWebhooks: webhook,
    imported: { text: imported.text, scope: crd.spec.scope, sample },
  };
}

/** The text of a file, or of standard input. @throws UsageError when it cannot be read */
async function definitionText(file: string, { processEnvironment }: Session): Promise<string> {
  try {
    if (file === "-") return await processEnvironment.stdin.readAll?.(maxInputBytes) ?? "";
    return await readText(resolvePath(processFacts().workingDirectory, file), { maxBytes: maxInputBytes });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot read the definition in "${file}": ${reason}`, "Example: --from-crd crd.yaml");
  }
}

/** The largest known file with all definitions of a project has 6 MiB. */
const maxInputBytes = 16 * 1024 * 1024;

function filesOf(
  project: ProjectSpec,
  { library, folder, runtime }: { readonly library: Library; readonly folder: string; readonly runtime: Runtime },
): readonly ProjectFile[] {
  const { version, clone } = library;
  const spec: LibrarySpec = { version, clone: clone === undefined ? undefined : linkOf(clone.folder, folder) };
  return [
    { name: "resource.ts", text: resourceText(project) },
    ...(project.versions.length === 1 ? [] : [
      ...project.versions.slice(0, -1).map((version) => ({
        name: `resource_${version}.ts`,
        text: resourceText(project, version),
      })),
      { name: "conversion.ts", text: conversionText(project) },
      { name: "conversion_test.ts", text: conversionTestText(project) },
    ]),
    ...(project.hasWebhooks
      ? [
        { name: "webhooks.ts", text: webhooksText(project) },
        { name: "webhooks_test.ts", text: webhooksTestText(project) },
      ]
      : []),
    { name: "desired.ts", text: desiredText(project) },
    { name: "controller.ts", text: controllerText(project) },
    { name: "controller_test.ts", text: testText(project) },
    { name: "sample.json", text: sampleText(project) },
    { name: "main.ts", text: mainText(project) },
    ...runtimeFiles(project, spec, runtime),
    { name: ".gitignore", text: gitignoreText() },
    { name: "README.md", text: readmeText(project, spec, runtime) },
    // With the lock file of the clone, all packages have the versions that the library was tested with.
    ...(clone?.lock === undefined || runtime !== "deno"
      ? []
      : [{ name: "deno.lock", text: clone.lock, shown: "(the lock file of the library)\n" }]),
  ];
}

/** Returns a relative path for a folder nearby, so that both can be moved together; else an absolute path. */
function linkOf(library: string, folder: string): string {
  const path = relativePath(folder, library);
  return path.startsWith("../../../") ? library : path;
}
