/** `/statusz` and `/flagz`: their forms, media types and permissions. Times, flags and the version of Go are each server's own. */
import { type ConformanceCase, requests } from "../conformance_case.ts";

const structured = (kind: string, version = "v1beta1", format = "json") =>
  `application/${format};as=${kind};g=config.k8s.io;v=${version}`;

/** The lines of a text, without the values of the process; the delimiter is random. */
function linesOf(text: string): readonly string[] {
  const isStatus = text.startsWith("\napiserver statusz");
  const separators = isStatus ? /^Up(: {1,2}|= | {2})\d+ hr \d\d min \d\d sec$/m : /^authorization-mode(: |:|=| )\[/m;
  const separator = separators.exec(text)?.[1] ?? "none";
  return text.split("\n").flatMap((line, index) => {
    if (index < 3) return [line];
    const [name = "", ...rest] = line.split(separator);
    const isOwn = ["Started", "Up", "Go version"].includes(name);
    if (!isStatus && name !== "authorization-mode") return [];
    return [isOwn ? name : [name, ...rest].join("|")];
  });
}

/** A structured page without the values of the process. */
// deno-lint-ignore no-explicit-any
function withoutValues(page: any): unknown {
  if (typeof page === "string") return page.replaceAll(/^(goVersion|startTime|uptimeSeconds): .*$/gm, "$1");
  const { startTime, uptimeSeconds, goVersion, flags, ...rest } = page;
  if (page.kind === "Flagz") return { ...rest, mode: flags["authorization-mode"] };
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(startTime) && Number.isInteger(uptimeSeconds);
  return { ...rest, isWhole, goVersion: typeof goVersion };
}

const refused = [
  "application/json",
  "application/yaml",
  "application/json;pretty=1",
  "application/vnd.kubernetes.protobuf",
  "application/*",
  "text/html",
  "text/html, application/json;q=0.5",
  "text/plain;stream=watch",
  `${structured("Statusz")};stream=watch`,
  structured("Statusz", "v1"),
  structured("Statusz", "v1beta1", "vnd.kubernetes.protobuf"),
  structured("Statusz", "v1beta1", "cbor"),
  "application/json;as=Statusz;g=config.k8s.io",
  "application/json;as=Statusz;g=meta.k8s.io;v=v1beta1",
  "text/plain;as=Statusz;g=config.k8s.io;v=v1beta1",
];

const kinds = [["/statusz", "Statusz"], ["/flagz", "Flagz"]] as const;

export const processPageCases: readonly ConformanceCase[] = kinds.flatMap((
  [path, kind],
): readonly ConformanceCase[] => [
  requests(
    `${path} as text`,
    () =>
      ["", "*/*", "text/plain", "text/*", "application/json, text/plain", "text/html, */*;q=0.1"].map((accept) => ({
        path,
        accept,
        pick: linesOf,
      })),
  ),
  requests(`${path} as an object`, () => [
    { path, accept: structured(kind), pick: withoutValues },
    { path, accept: structured(kind, "v1alpha1"), pick: withoutValues },
    { path, accept: structured(kind).replace("json", "*"), pick: withoutValues },
    ...(kind === "Statusz" ? [{ path, accept: structured(kind, "v1beta1", "yaml"), pick: withoutValues }] : []),
    { path, accept: `text/html, ${structured(kind)}, text/plain`, pick: withoutValues },
    { path, accept: `text/plain;q=0.5, ${structured(kind)}`, pick: withoutValues },
    { path: `${path}?pretty=1`, accept: structured(kind), pick: withoutValues },
  ]),
  requests(`media types that ${path} does not have`, () =>
    [
      ...refused.map((type) => type.replace("Statusz", kind)),
      structured(kind === "Flagz" ? "Statusz" : "Flagz"),
    ].map((accept) => ({ path, accept }))),
  requests(`methods and paths of ${path}`, () => [
    { path, method: "POST", body: {}, pick: linesOf },
    { path, method: "DELETE", pick: linesOf },
    { path, method: "HEAD" },
    { path: `${path}/` },
    { path: `${path}/a` },
    { path, accept: structured(kind), method: "PUT", body: {}, pick: withoutValues },
  ]),
  requests(`who may read ${path}`, () => {
    const as = (user: string, group: string) => ({ "impersonate-user": user, "impersonate-group": group });
    return [
      { path, headers: as("a", "system:authenticated") },
      { path, headers: as("a", "system:monitoring"), pick: linesOf },
      { path, headers: as("a", "system:monitoring"), method: "POST", body: {} },
      { path: `${path}/a`, headers: as("a", "system:monitoring") },
    ];
  }),
]);
