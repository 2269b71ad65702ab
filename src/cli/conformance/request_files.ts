/**
 * readCases(): the cases of request files. Each YAML document of a file is a case: a name, and the requests that both servers
 * get.
 *
 * Guarantees: a file that is wrong is an error before anything is sent. A request that changes something is for the namespace
 * of its case, unless the case says `clusterWrites: true`. The files with bodies are beside the request file or below it.
 */
import { z } from "zod";
import { directoryOf, joinPath, type LineReader, readText } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { readDocuments } from "../documents/mod.ts";
import { methods } from "./case_recorder.ts";

/** What a file says in the place of the namespace of a case, and of a word that no other run uses. */
export const placeholders = { namespace: "${NAMESPACE}", unique: "${UNIQUE}" } as const;

/** The media types of bodies in files, by their ending. */
const typeOfEnding: ReadonlyMap<string, string> = new Map([
  ["json", "application/json"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

/** Headers that the connection sets. */
const ownHeaders =
  /^(authorization|user-agent|host|connection|content-length|transfer-encoding|upgrade|accept|content-type|impersonate-.*)$/i;

const path = z.string().min(2).max(4_096)
  .refine((value) => value.startsWith("/"), { error: "it does not begin with /" })
  .refine((value) => !/[#\s\\]/.test(value), { error: "it has a space, # or \\" })
  .refine((value) => isPlainPath(pathnameOf(value)), { error: "it has empty or relative parts, or an escaped /" })
  .refine((value) => !/[?&]watch=/.test(value), { error: "it watches: say so with the field watch" });

const watch = z.strictObject({
  events: z.int().min(1).max(10_000),
  timeoutSeconds: z.int().min(1).max(600).default(30),
});

const sender = z.strictObject({ user: z.string().min(1), groups: z.array(z.string().min(1)).default([]) });

const headers = z.record(
  z.string(),
  z.string().regex(/^[\x20-\x7e]*$/, { error: "it has characters that a header cannot have" }),
)
  .refine((all) => Object.keys(all).every((name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name)), {
    error: "a name has characters that the name of a header cannot have",
  })
  .refine((all) => !Object.keys(all).some((name) => ownHeaders.test(name)), {
    error: "one of them cannot be set here: the connection sets it, or accept, contentType and as do",
  });

const requestSchema = z.strictObject({
  method: z.enum(methods).optional(),
  path,
  body: z.unknown().optional(),
  file: z.string().min(1).refine(isBelow, {
    error: "it is not the relative path of a file beside this one or below it",
  })
    .optional(),
  contentType: z.string().regex(/^[\x21-\x7e][\x20-\x7e]*$/).optional(),
  accept: z.string().regex(/^[\x21-\x7e][\x20-\x7e]*$/).optional(),
  headers: headers.optional(),
  as: sender.optional(),
  watch: watch.optional(),
})
  .refine(({ body, file }) => body === undefined || file === undefined, { error: "it has a body and a file" })
  .refine(
    ({ watch, method = "GET", body, file }) =>
      watch === undefined || (method === "GET" && body === undefined && file === undefined),
    {
      error: "it watches, which is a GET without a body",
    },
  )
  .refine(({ method, body, file }) => !(method === "GET" || method === "HEAD") || (body ?? file) === undefined, {
    error: "a GET or HEAD has no body",
  });

const caseSchema = z.strictObject({
  name: z.string().min(1).max(200),
  clusterWrites: z.boolean().default(false),
  serviceAccount: z.boolean().default(false),
  requests: z.array(requestSchema).min(1).max(1_000),
  cleanup: z.array(requestSchema).max(1_000).default([]),
});

/** A request of a file. */
export interface FileRequest extends Omit<z.output<typeof requestSchema>, "file"> {
  readonly method: (typeof methods)[number];
}

/** A case of a file. */
export interface RequestCase extends Omit<z.output<typeof caseSchema>, "requests" | "cleanup"> {
  readonly requests: readonly FileRequest[];
  /** Sent after the others, even after an error; not compared. */
  readonly cleanup: readonly FileRequest[];
  /** The file and the line. */
  readonly place: string;
  /** True if it needs a namespace of its own. */
  readonly hasNamespace: boolean;
}

/** Reads the cases of files, of the files of folders, or of standard input (`-`). @throws CommandError */
export async function readCases(paths: readonly string[], stdin: LineReader): Promise<readonly RequestCase[]> {
  const cases: RequestCase[] = [];
  for (const from of paths) {
    const documents = await readDocuments(from, { stdin, cannotRead });
    if (documents.length === 0) throw cannotRead(from, "it has no cases");
    for (const { value, name, line } of documents) {
      const place = `${name}:${line}`;
      cases.push(await caseOf(value, { place, folder: from === "-" ? undefined : directoryOf(name) }));
    }
  }
  const seen = new Map<string, string>();
  for (const { name, place } of cases) {
    const other = seen.get(name);
    if (other !== undefined) throw cannotRead(place, `the case at ${other} has the same name`);
    seen.set(name, place);
  }
  return cases;
}

/** Where a case is. */
interface Place {
  readonly place: string;
  /** Absent: standard input, whose cases have no files. */
  readonly folder: string | undefined;
}

async function caseOf(value: unknown, { place, folder }: Place): Promise<RequestCase> {
  const parsed = boundedParse(caseSchema, value);
  if (parsed.kind === "invalid") {
    const texts = parsed.issues.slice(0, 3).map(({ path, message }) => `${fieldOf(path)}${message}`);
    throw cannotRead(place, texts.join("; "));
  }
  const { requests, cleanup, ...rest } = parsed.value;
  for (const [field, list] of Object.entries({ requests, cleanup })) {
    const index = list.findIndex((one) => !rest.clusterWrites && writesElsewhere(one));
    if (index < 0) continue;
    throw cannotRead(
      place,
      `${field}[${index}] changes something outside of ${placeholders.namespace}`,
      "Add clusterWrites: true to the case if that is meant",
    );
  }
  const read = async (list: readonly z.output<typeof requestSchema>[]) => {
    const all: FileRequest[] = [];
    for (const one of list) all.push(await withBody(one, { place, folder }));
    return all;
  };
  const all = { requests: await read(requests), cleanup: await read(cleanup) };
  const hasNamespace = JSON.stringify(all).includes(placeholders.namespace);
  if (rest.serviceAccount && !hasNamespace) {
    throw cannotRead(place, `serviceAccount needs a request that names ${placeholders.namespace}`);
  }
  return { ...rest, ...all, place, hasNamespace };
}

async function withBody(
  { file, ...rest }: z.output<typeof requestSchema>,
  { place, folder }: Place,
): Promise<FileRequest> {
  if (file === undefined) return { ...rest, method: methodOf(rest) };
  if (folder === undefined) throw cannotRead(place, "a case of standard input names a file");
  const from = joinPath(folder, file);
  const text = await readText(from, { isRegular: true }).catch((cause: unknown) => {
    throw cannotRead(place, `the file "${file}": ${cause instanceof Error ? cause.message : String(cause)}`);
  });
  const contentType = rest.contentType ?? typeOfEnding.get(file.slice(file.lastIndexOf(".") + 1));
  if (contentType === undefined) throw cannotRead(place, `the request with the file "${file}" has no contentType`);
  return { ...rest, method: methodOf({ ...rest, body: text }), body: text, contentType };
}

function methodOf({ method, body }: Pick<z.output<typeof requestSchema>, "method" | "body">): FileRequest["method"] {
  return method ?? (body === undefined ? "GET" : "POST");
}

/** Methods that change nothing, except through a proxy, or in a program that runs in a Pod. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const streaming = /\/(proxy|exec|attach|portforward)(\/|$)/;
/** Questions: nothing is stored. */
const reviews = /^\/apis\/(authorization|authentication)\.k8s\.io\/[^/]+\/[a-z]+reviews$/;

function writesElsewhere(request: z.output<typeof requestSchema>): boolean {
  const method = request.method ?? (request.body === undefined && request.file === undefined ? "GET" : "POST");
  const pathname = pathnameOf(request.path);
  if (reading.has(method) && !streaming.test(pathname)) return false;
  if (method === "POST" && reviews.test(pathname)) return false;
  const words = pathname.split("/").slice(1);
  const start = words[0] === "api" ? 2 : 3;
  const isKnown = words[0] === "api" || words[0] === "apis";
  return !(isKnown && words[start] === "namespaces" && words[start + 1] === placeholders.namespace);
}

function pathnameOf(path: string): string {
  return path.split("?", 1)[0] ?? "";
}

/** A path whose parts are what they look like, however a server or a proxy cleans it. */
function isPlainPath(pathname: string): boolean {
  if (/%(2f|5c|25|00)/i.test(pathname)) return false;
  return pathname.slice(1).split("/").every((word, index, all) =>
    (word !== "" || index === all.length - 1) && !/^\.{1,2}$/.test(word.replaceAll(/%2e/gi, "."))
  );
}

function isBelow(file: string): boolean {
  return !/^([/\\~]|[A-Za-z]:)/.test(file) && !file.split(/[/\\]/).includes("..");
}

/** `requests[0].path: `. */
function fieldOf(path: readonly PropertyKey[]): string {
  const text = path.map((key) => typeof key === "number" ? `[${key}]` : `.${String(key)}`).join("").replace(/^\./, "");
  return text === "" ? "" : `${text}: `;
}

function cannotRead(place: string, state: string, advice?: string): CommandError {
  return new CommandError(`Cannot read requests from "${place}": ${state}`, { code: exitCode.failed, advice });
}
