/**
 * The configuration file of `--config`: a YAML map with the values of flags. A key is the long name of a flag in camel case,
 * as in the configuration of a kubelet: `kubeApiQps` for `--kube-api-qps`.
 *
 * Guarantees: everything in the file is a value of a flag of the command; an error names the file and the line. Secrets are
 * refused, because such files are in ConfigMaps and repositories. The values themselves are checked by the schemas of the
 * flags, as those of the command line.
 */
import { z } from "zod";
import { readText } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { parseYaml, type YamlDocument } from "../../yaml/mod.ts";
import { type FileValue, type FileValues, type Flag, flag, text, UsageError } from "../flags/mod.ts";
import { mostSimilar } from "../output/mod.ts";

/** The file with values of flags. A command that declares this very flag reads it. */
export const configFlag = flag(text().optional(), {
  flags: "--config <path>",
  about:
    "YAML file with values of flags, by their names in camel case; the command line and the environment come first",
  example: "--config controller.yaml",
  completes: "file",
});

const scalar = z.union([z.string(), z.number(), z.boolean(), z.bigint()]);
const fileSchema = z.record(z.string(), z.union([scalar, z.array(scalar)])).nullable();
type FileContent = z.output<typeof fileSchema>;

/** @param flags all flags of the command @throws UsageError when it cannot be read, or has something else than values of flags */
export async function readConfigFile(path: string, flags: readonly Flag[]): Promise<FileValues> {
  return parseConfigFile(await readConfigText(path, "--config"), { path, flags });
}

/**
 * As {@link readConfigFile}, for a process that runs with its values. A file without content is an error: an editor that
 * is about to write it has emptied it, and the defaults of flags such as `allowedHosts` allow more than the file does.
 */
export async function rereadConfigFile(path: string, flags: readonly Flag[]): Promise<FileValues> {
  const content = await readConfigText(path, "--config");
  const isEmpty = content.split("\n").every((line) => /^\s*(?:#.*|---\s*)?$/.test(line));
  if (isEmpty) throw configError(path, 1, "the file is empty, and {} sets nothing");
  return parseConfigFile(content, { path, flags });
}

/** Reads the text of a file. @param flagName the flag that names it @throws UsageError when it cannot be read */
export async function readConfigText(path: string, flagName: string): Promise<string> {
  try {
    return await readText(path, { isRegular: true });
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`Cannot read configuration "${path}": ${state}`, `Check the path of ${flagName}`);
  }
}

/** @throws UsageError */
export function parseConfigFile(
  content: string,
  { path, flags }: ConfigFile,
): FileValues {
  const document = parseYaml(content);
  const [problem] = document.problems;
  if (problem !== undefined) throw configError(path, problem.line, problem.message);
  const [duplicate] = document.duplicateKeys();
  if (duplicate !== undefined) throw configError(path, duplicate.line, "the key is in the map already");
  const values = new Map<string, FileValue>();
  for (const [key, value] of Object.entries(contentOf(document, { path, flags }) ?? {})) {
    const flag = flags.find((one) => one.key === key);
    if (flag === undefined) continue; // refused above
    const line = lineOf(document, [key]);
    const itemLines = Array.isArray(value) ? value.map((_, index) => lineOf(document, [key, index])) : [];
    values.set(key, { value: flagValue(flag, value, { path, line }), line, itemLines });
  }
  return { path, values };
}

/** The file, and the flags of the command. */
interface ConfigFile {
  readonly path: string;
  readonly flags: readonly Flag[];
}

/** The value of the document, which has no keys but those of flags. */
function contentOf(document: YamlDocument, file: ConfigFile): FileContent {
  const { path } = file;
  let value: unknown;
  try {
    value = document.value();
  } catch (error) {
    throw configError(path, 1, error instanceof Error ? error.message : String(error));
  }
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    throw configError(path, 1, "the file is not a map from flags to values");
  }
  for (const key of Object.keys(value ?? {})) assertKey(key, lineOf(document, [key]), file);
  const parsed = boundedParse(fileSchema, value);
  if (parsed.kind === "valid") return parsed.value;
  const [key = ""] = parsed.issues[0]?.path ?? [];
  const state = `"${String(key)}" has neither a text, a number, a truth value, nor a list of these`;
  throw configError(path, lineOf(document, [key]), state, "Leave the key out for the default");
}

/** @throws UsageError when the key is not that of a flag, or of a secret */
function assertKey(key: string, line: number, { path, flags }: ConfigFile): void {
  const flag = flags.find((one) => one.key === key);
  if (flag === undefined || flag.fromEnvironment !== true || key === "config") {
    throw unknownKeyError(key, line, { path, flags });
  }
  if (flag.isSecret !== true) return;
  throw configError(
    path,
    line,
    `"${key}" is a secret, and this file is not for secrets`,
    "Use an environment variable",
  );
}

/** The value in the form that commander would give it. A text of a wrong form is refused by the schema of the flag. */
function flagValue(
  flag: Flag,
  value: NonNullable<FileContent>[string],
  { path, line }: { readonly path: string; readonly line: number },
): FileValue["value"] {
  if (flag.arity === "list") {
    if (Array.isArray(value)) return value.map(String);
    throw configError(path, line, `"${flag.key}" is not a list`, `Example: ${flag.key}: [${String(value)}]`);
  }
  if (Array.isArray(value)) throw configError(path, line, `"${flag.key}" takes one value, not a list`);
  if (flag.arity === "count") {
    return typeof value === "number" || typeof value === "boolean" ? Number(value) : String(value);
  }
  return flag.isSwitch && typeof value === "boolean" ? value : String(value);
}

function unknownKeyError(key: string, line: number, { path, flags }: ConfigFile): UsageError {
  const known = flags.filter((flag) => flag.fromEnvironment === true && flag.key !== "config").map((flag) => flag.key);
  // A user may have written the name as on the command line.
  const inCamelCase = key.replace(/^-+/, "").replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const similar = known.includes(inCamelCase) ? inCamelCase : mostSimilar(key, known);
  const advice = similar === undefined ? "The keys are the names of flags in camel case" : `Did you mean: ${similar}`;
  return configError(path, line, `no flag has the key "${key}"`, advice);
}

function configError(path: string, line: number, state: string, advice?: string): UsageError {
  return new UsageError(`Cannot use configuration ${path}:${line}: ${state}`, advice);
}

function lineOf(document: YamlDocument, path: readonly PropertyKey[]): number {
  return document.positionOf(path)?.line ?? 1;
}
