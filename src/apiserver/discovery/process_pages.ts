/**
 * processPages(): `/statusz` and `/flagz`, what the process is and with which flags it runs, as the z-pages of kube-apiserver:
 * text for people, and objects of config.k8s.io for programs that ask for them by kind and version.
 *
 * The start is that of the server in this process. No Go has built it, so the version of Go is empty.
 */
import type { Clock, Random } from "../../async/mod.ts";
import {
  contentTypes,
  findPageMedia,
  isPrettyRequested,
  type PageMedia,
  pageNotAcceptable,
  type PathHandler,
  statusErrorResponse,
  yamlText,
} from "../http/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { serverRelease, serverVersion } from "./discovery_paths.ts";

/** Options of {@link processPages}. */
export interface ProcessPagesOptions {
  readonly clock: Clock;
  /** Chooses the delimiter of the texts, which kube-apiserver varies so that no program parses them. */
  readonly random: Random;
  /** The flags of the process and their values. @default none */
  readonly flags?: ReadonlyMap<string, string>;
}

/** One of the pages. */
interface Page {
  readonly name: "statusz" | "flagz";
  readonly kind: "Statusz" | "Flagz";
  /** The fields of the object beside its kind and metadata. */
  readonly fields: () => JsonObject;
  /** The text below the heading. */
  readonly text: () => string;
}

const component = "apiserver";
const delimiters = [":", ": ", "=", " "] as const;
/** The first segments of the paths that help to find a fault. */
const debuggingPaths = ["/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"] as const;

/** Serves the pages of one server. Its start is the time of the call. */
export function processPages({ clock, random, flags = new Map() }: ProcessPagesOptions): PathHandler {
  const startedAt = Math.floor(clock.now() / 1_000) * 1_000;
  const delimiter = () => delimiters[Math.floor(random.next() * delimiters.length)] ?? ":";
  const pages = new Map<string, Page>([
    ["/statusz", statusPage(startedAt, clock, delimiter)],
    ["/flagz", flagsPage(flags, delimiter)],
  ]);
  return {
    handle(request, path, query) {
      const page = pages.get(path);
      return page === undefined ? undefined : pageResponse(request, query, page);
    },
  };
}

function statusPage(startedAt: number, clock: Clock, delimiter: () => string): Page {
  const upSeconds = () => Math.max(0, Math.floor((clock.now() - startedAt) / 1_000));
  return {
    name: "statusz",
    kind: "Statusz",
    fields: () => ({
      startTime: new Date(startedAt).toISOString().replace(".000Z", "Z"),
      uptimeSeconds: upSeconds(),
      goVersion: "",
      binaryVersion: serverRelease,
      emulationVersion: serverVersion,
      paths: debuggingPaths,
    }),
    text: () => {
      const mark = delimiter();
      const lines = [
        ["Started", unixDate(startedAt)],
        ["Up", uptime(upSeconds())],
        ["Go version", ""],
        ["Binary version", serverRelease],
        ["Emulation version", serverVersion],
        ["Paths", debuggingPaths.join(" ")],
      ];
      return `\n${lines.map(([name, value]) => `${name}${mark} ${value}\n`).join("")}`;
    },
  };
}

function flagsPage(flags: ReadonlyMap<string, string>, delimiter: () => string): Page {
  const sorted = [...flags].sort(([left], [right]) => left < right ? -1 : 1);
  // As there, one text for the life of the process.
  let text: string | undefined;
  return {
    name: "flagz",
    kind: "Flagz",
    fields: (): JsonObject => sorted.length === 0 ? {} : { flags: Object.fromEntries(sorted) },
    text: () => {
      const mark = text === undefined ? delimiter() : "";
      return text ??= sorted.map(([name, value]) => `${name}${mark}${value}\n`).join("");
    },
  };
}

async function pageResponse(request: Request, query: URLSearchParams, page: Page): Promise<Response> {
  const accept = request.headers.get("accept") ?? "";
  const media = findPageMedia(accept, page.kind);
  if (media === undefined) {
    const { error, format, isPretty } = pageNotAcceptable(accept);
    return await statusErrorResponse(error, format, isPretty || isPrettyRequested(request, query), new Set());
  }
  const headers = new Headers({ "cache-control": "no-cache, private" });
  if (media.format === "text") {
    headers.set("content-type", "text/plain; charset=utf-8");
    return new Response(heading(page) + page.text(), { headers });
  }
  const type = `${contentTypes[media.format]};g=config.k8s.io;v=${media.version};as=${page.kind}`;
  headers.set("content-type", type);
  if (media.version === "v1alpha1") {
    const text = `This version of the ${page.name} endpoint is deprecated. Please use a newer version.`;
    headers.set("warning", `299 - "${text}"`);
  }
  const isPretty = media.isPretty || isPrettyRequested(request, query);
  return new Response(await objectText(page, media, isPretty), { headers });
}

async function objectText(page: Page, { format, version }: PageMedia, isPretty: boolean): Promise<string> {
  const object: JsonObject = {
    kind: page.kind,
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: component },
    ...page.fields(),
  };
  if (format === "yaml") return await yamlText(object);
  return `${JSON.stringify(object, undefined, isPretty ? 2 : undefined)}\n`;
}

function heading({ name }: Page): string {
  return `\n${component} ${name}\nWarning: This endpoint is not meant to be machine parseable, has no formatting ` +
    "compatibility guarantees and is for debugging purposes only.\n";
}

/** `Tue Nov  4 07:24:50 UTC 2026`. */
function unixDate(ms: number): string {
  const [weekday = "", day = "", month = "", year, time] = new Date(ms).toUTCString().split(" ");
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function uptime(seconds: number): string {
  const two = (value: number) => String(value % 60).padStart(2, "0");
  return `${Math.floor(seconds / 3_600)} hr ${two(Math.floor(seconds / 60))} min ${two(seconds)} sec`;
}
