/** The flags of `new`. */
/* MERGED new.ts
 * `new`: the first files of a controller of one's own: a kind, what it means, a controller, a program, a sample and a test
 * that passes at once. What it writes is as `deno fmt`, `deno lint` and `deno check` want it.
 *
 * Guarantees: nothing that is there is written over; all files are written, or none; no cluster is asked.
 */
/* MERGED new/names.ts
 * The names in what `new` writes: each follows from the controller's, unless it was given, and each is one that
 * Kubernetes, TypeScript and the templates can live with. Everything is refused here, before a file is written.
 */
import { z } from "zod";
import { flagSyntax, text, UsageError } from "../flags/mod.ts";
import { joinPath, processFacts, relativePath, resolvePath } from "../../runtime/mod.ts";
import { type Call, type ExitCode, exitCode, subcommand } from "../command/mod.ts";
import { selectDependentKinds } from "./dependent_kinds.ts";
import { findLibrary, type Library, type ProjectFile, writeProject } from "./project_files.ts";
import {
  controllerText,
  denoJsonText,
  desiredText,
  gitignoreText,
  mainText,
  type ProjectSpec,
  readmeText,
  resourceText,
  sampleText,
  testText,
} from "./templates.ts";
import { builtin } from "../../api/mod.ts";

const newFlags = z.object({
  kind: text().optional().register(flagSyntax, {
    flags: "-k, --kind <kind>",
    about: "the kind of object it looks after (default: the name in UpperCamelCase)",
    example: "--kind WebSite",
  }),
  group: text().prefault("example.dev").register(flagSyntax, {
    flags: "-g, --group <domain>",
    about: "API group of the kind: a domain that is yours",
    example: "--group shop.example.com",
  }),
  owns: z.array(text()).default([]).register(flagSyntax, {
    flags: "--owns <kind>",
    about:
      "what one of its objects becomes: ConfigMap, CronJob, Deployment, Service, StatefulSet (default: Deployment)",
    arity: "list",
    example: "--owns Deployment --owns Service",
  }),
  dir: text().optional().register(flagSyntax, {
    flags: "-d, --dir <folder>",
    about: "where the files go; made if it is not there (default: a folder of the controller's name)",
    completes: "directory",
    example: "--dir operators/website",
  }),
  library: text().optional().register(flagSyntax, {
    flags: "--library <folder>",
    about: "a clone of Pintle (default: the one that this program comes from)",
    completes: "directory",
    example: "--library ../pintle",
  }),
  dryRun: z.boolean().default(false).register(flagSyntax, {
    flags: "--dry-run",
    about: "print the files instead of writing them",
  }),
});

/** What the flags say. */
type NewFlags = z.output<typeof newFlags>;

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

function subjectOf(words: readonly string[], { kind, group, owns }: NewFlags): ProjectSpec {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    const state = name === undefined ? "it has no name" : `"${more[0]}" is one name too many`;
    throw new UsageError(`Cannot write a controller: ${state}`, "Example: new website");
  }
  return {
    names: deriveNames({ name, kind, group }),
    children: selectDependentKinds(owns.length === 0 ? ["Deployment"] : owns),
  };
}

function filesOf(
  subject: ProjectSpec,
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

/** What was typed. */
interface NameOptions {
  readonly name: string;
  readonly kind: string | undefined;
  readonly group: string;
}

/** All names of a new controller. */
export interface Names {
  /** Of the controller, the program and the folder: `web-site`. */
  readonly controller: string;
  /** Of the exported constant: `webSiteController`. */
  readonly constant: string;
  /** `WebSite`. */
  readonly kind: string;
  /** `website`, as kubectl takes it. */
  readonly singular: string;
  readonly group: string;
}

/** So that no line of what is written is too long, and no label either. */
const longest = 40;

/** What cannot be the name of a type and of a value beside what the templates import. */
const taken: ReadonlySet<string> = new Set([
  "BigInt",
  "Boolean",
  "Function",
  "Infer",
  "Infinity",
  "NaN",
  "Number",
  "Object",
  "String",
  "Symbol",
  "World",
]);

/** @throws UsageError that names what is wrong, and a name that would do. */
function deriveNames({ name, kind = upperCamel(name), group }: NameOptions): Names {
  checkName(name);
  checkKind(kind);
  checkGroup(group);
  const camel = upperCamel(name);
  const constant = `${camel.slice(0, 1).toLowerCase()}${camel.slice(1)}Controller`;
  return { controller: name, constant, kind, singular: kind.toLowerCase(), group };
}

function checkName(name: string): void {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= longest) return;
  const rule = `it must begin with a letter and have at most ${longest} of a-z, 0-9 and -`;
  const better = kebab(name);
  throw new UsageError(
    `Cannot name a controller "${name}": ${rule}`,
    better === "" || better === name ? "Example: new website" : `Try: new ${better}`,
  );
}

function checkKind(kind: string): void {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(kind) || kind.length > longest) {
    const rule = `it must begin with a capital and have at most ${longest} letters and digits`;
    throw new UsageError(`Cannot name a kind "${kind}": ${rule}`, "Example: --kind WebSite");
  }
  const isKubernetes = Object.values(builtin).some((resource) => resource.kind === kind);
  if (!isKubernetes && !taken.has(kind)) return;
  const owner = isKubernetes ? "Kubernetes has a kind of that name" : "that word is TypeScript's, or this library's";
  throw new UsageError(`Cannot name a kind "${kind}": ${owner}`, `Try: --kind My${kind}`);
}

function checkGroup(group: string): void {
  const isDomain = group.length <= 63 &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group);
  if (!isDomain) {
    const rule = "it must be a domain in lower case, with a dot, of at most 63 characters";
    throw new UsageError(`Cannot use the group "${group}": ${rule}`, "Example: --group shop.example.com");
  }
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  throw new UsageError(`Cannot use the group "${group}": it belongs to Kubernetes`, "Use a domain that is yours");
}

/** `web-site` as `WebSite`. */
function upperCamel(name: string): string {
  return name.split("-").map((part) => part.slice(0, 1).toUpperCase() + part.slice(1)).join("");
}

/** `My Web_Site` as `my-web-site`: what was probably meant. */
function kebab(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-").replace(/^[0-9-]+/, "").slice(0, longest).replace(/-$/, "");
}
