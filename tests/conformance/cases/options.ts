/** The options of lists, watches and collection deletes in the query, alone and combined: which are refused, and how. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, pod, template } from "./_objects.ts";
import { withThings } from "./_things.ts";

const versions = ["", "0", "VERSION", "abc", "-1", "999999999"];
const matches = ["", "Exact", "NotOlderThan", "Other"];

/** Which of the objects a response lists. */
// deno-lint-ignore no-explicit-any
const names = ({ kind, items, metadata }: any) => ({
  kind,
  names: items?.map((item: { readonly metadata: { readonly name: string } }) => item.metadata.name),
  hasToken: metadata?.continue !== undefined,
  left: metadata?.remainingItemCount,
});

/** No controller creates one. */
function podTemplate(name: string): Body {
  return { apiVersion: "v1", kind: "PodTemplate", metadata: { name }, template: template("a") };
}

async function threeTemplates(run: CaseRun): Promise<string> {
  const path = at(run, "podtemplates");
  for (const name of ["a", "b", "c"]) await run.prepare({ path, body: podTemplate(name) });
  return path;
}

/** The query with the version and the token of the objects of the case. */
async function filled(run: CaseRun, path: string, query: string): Promise<string> {
  const { metadata } = await run.prepare({ path: `${path}?limit=1&labelSelector=!none` });
  return query.replace("VERSION", metadata.resourceVersion).replace("TOKEN", metadata.continue ?? "");
}

const lists: readonly ConformanceCase[] = versions.flatMap((version) =>
  matches.map((match) =>
    scenario(
      `a list with resourceVersion ${JSON.stringify(version)} and the match ${JSON.stringify(match)}`,
      async (run) => {
        const path = await threeTemplates(run);
        const base = [
          version === "" ? "" : `resourceVersion=${version}`,
          match === "" ? "" : `resourceVersionMatch=${match}`,
        ];
        // The real server waits for a version to come; the embedded one does not.
        const isFuture = version === "999999999" && match !== "Exact";
        for (
          const more of isFuture ? ["continue=TOKEN"] : ["", "limit=2", "continue=TOKEN", "limit=1&continue=TOKEN"]
        ) {
          const query = await filled(run, path, [...base, more].filter((part) => part !== "").join("&"));
          await run.call({ path: `${path}?${query}`, pick: names });
        }
      },
    )
  )
);

/** Queries of lists and deletes, without the wait of a watch. */
const queries: readonly string[] = [
  "limit=0",
  "limit=-1",
  "limit=abc",
  "limit=1.5",
  "limit=",
  "limit=99999999999999999999",
  "limit=1&limit=2",
  "continue=",
  "continue=abc",
  "continue=e30",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0",
  "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIvLi4vYSJ9",
  "continue=TOKEN&labelSelector=a",
  "continue=TOKEN&resourceVersion=0",
  "continue=TOKEN&resourceVersion=1",
  "continue=TOKEN&limit=0",
  "sendInitialEvents=true",
  "sendInitialEvents=false",
  "sendInitialEvents=abc",
  "sendInitialEvents=",
  "allowWatchBookmarks=true",
  "allowWatchBookmarks=abc",
  "timeoutSeconds=1",
  "timeoutSeconds=-1",
  "timeoutSeconds=abc",
  "timeoutSeconds=0",
  "timeoutSeconds=",
  "timeout=1s",
  "timeout=abc",
  "timeout=",
  "timeout=-1s",
  "timeout=0",
  "timeout=1h",
  "timeout=1",
  "timeout=1x",
  "timeout=1.5h30m",
  "timeout=1h30",
  "timeout=s",
  "watch=false",
  "watch=0",
  "unknown=1",
  "resourceVersion=%20",
  "resourceVersion=1e3",
  "resourceVersion=18446744073709551616",
  "resourceVersionMatch=exact&resourceVersion=1",
  "labelSelector=a%3Db%2Cc",
  "labelSelector=a%3D%3D",
  "labelSelector=%3D",
  "labelSelector=a%20in%20()",
  "labelSelector=a%20in%20(b%2C%2Cc)",
  "labelSelector=a%3E1",
  "labelSelector=a%3Ex",
  "labelSelector=-a",
  "labelSelector=a%3Db!",
  "fieldSelector=metadata.name%3Da",
  "fieldSelector=metadata.name!%3Da",
  "fieldSelector=metadata.name",
  "fieldSelector=metadata.name%3Da%2Cmetadata.name%3Db",
  "fieldSelector=metadata.labels%3Da",
  "fieldSelector=metadata.namespace%3Dnone",
  "fieldSelector=%3Da",
  "fieldSelector=metadata.name%3Da%5Cb",
  "pretty=true",
];

const plain: readonly ConformanceCase[] = [
  ...queries.map((query) =>
    scenario(`lists and deletes with ${query}`, async (run) => {
      const path = await threeTemplates(run);
      await listAndDelete(run, path, await filled(run, path, query));
    })
  ),
  withThings("lists and deletes of custom resources with options", async (run, { path, thing }) => {
    for (const name of ["b", "c"]) await run.prepare({ path, body: thing(name) });
    for (const query of queries) await listAndDelete(run, path, await filled(run, path, query));
  }),
];

async function listAndDelete(run: CaseRun, path: string, query: string): Promise<void> {
  await run.call({ path: `${path}?${query}`, pick: names });
  await run.call({ path: `${path}/a?${query}`, pick: ({ kind }) => kind });
  await run.call({ method: "DELETE", path: `${path}?dryRun=All&${query}`, pick: names });
}

/** Queries of watches of three objects that exist. */
const watches: readonly (readonly [query: string, events: number])[] = [
  ["", 3],
  ["resourceVersion=0", 3],
  ["resourceVersion=VERSION", 0],
  ["resourceVersion=abc", 1],
  ["resourceVersion=-1", 1],
  ["resourceVersion=0&limit=1", 3],
  ["limit=1", 3],
  ["limit=abc", 1],
  ["continue=TOKEN", 1],
  ["continue=abc", 1],
  ["continue=TOKEN&resourceVersion=VERSION", 1],
  ["continue=TOKEN&limit=1", 1],
  ["continue=TOKEN&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 1],
  ["resourceVersionMatch=Exact", 1],
  ["resourceVersionMatch=NotOlderThan", 1],
  ["resourceVersionMatch=Other", 1],
  ["resourceVersion=VERSION&resourceVersionMatch=Exact", 1],
  ["sendInitialEvents=true", 1],
  ["sendInitialEvents=false", 1],
  ["sendInitialEvents=true&resourceVersionMatch=Exact", 1],
  ["sendInitialEvents=true&resourceVersionMatch=Other", 1],
  ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 3],
  ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", 4],
  ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&allowWatchBookmarks=true", 4],
  ["sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=VERSION&allowWatchBookmarks=true", 4],
  ["sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=VERSION", 0],
  ["sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0", 0],
  ["sendInitialEvents=abc&resourceVersionMatch=NotOlderThan", 3],
  ["labelSelector=%3D", 1],
  ["fieldSelector=metadata.name%3Db", 1],
  ["fieldSelector=metadata.labels%3Da", 1],
  ["allowWatchBookmarks=abc", 3],
  ["pretty=true", 3],
  ["timeout=abc", 3],
];

async function watchWith(run: CaseRun, path: string, query: string, count: number): Promise<void> {
  const full = await filled(run, path, query);
  await run.watch(`${path}?${full}`, { count: count === 0 ? 1 : count, timeoutSeconds: count === 0 ? 1 : 5 });
}

const watching: readonly ConformanceCase[] = [
  ...watches.map(([query, count]) =>
    scenario(`a watch with ${query === "" ? "no options" : query}`, async (run) => {
      await watchWith(run, await threeTemplates(run), query, count);
    })
  ),
  withThings("watches of custom resources with options", async (run, { path, thing }) => {
    for (const name of ["b", "c"]) await run.prepare({ path, body: thing(name) });
    for (const [query, count] of watches) await watchWith(run, path, query, count);
  }),
];

/** Parameters of requests that write. */
const writes: readonly string[] = [
  "timeout=1s",
  "timeout=abc",
  "timeout=1",
  "timeout=",
  "timeout=-1s",
  "timeout=100000h",
  "timeoutSeconds=abc",
  "dryRun=",
  "dryRun=all",
  "dryRun=All&dryRun=All",
  "dryRun=All&dryRun=Some",
  "fieldManager=",
  "fieldManager=%20a",
  "fieldManager=a%0Ab",
  `fieldManager=${"m".repeat(129)}`,
  "fieldValidation=strict",
  "fieldValidation=",
  "fieldValidation=Strict&fieldValidation=Ignore",
  "force=true",
  "force=abc",
  "gracePeriodSeconds=abc",
  "gracePeriodSeconds=-1",
  "propagationPolicy=",
  "propagationPolicy=Later",
  "orphanDependents=abc",
  "preconditions.uid=a",
  "pretty=abc",
];

const writing: readonly ConformanceCase[] = writes.map((query) =>
  scenario(`writes with ${query.length > 60 ? `${query.slice(0, 20)}...` : query}`, async (run) => {
    const path = await threeTemplates(run);
    const pick = ({ kind, status }: { readonly kind: unknown; readonly status: unknown }) => ({ kind, status });
    await run.call({ path: `${path}?${query}`, body: podTemplate("d"), pick });
    await run.call({ method: "PUT", path: `${path}/a?${query}`, body: podTemplate("a"), pick });
    const [merge, apply] = ["application/merge-patch+json", "application/apply-patch+yaml"];
    await run.call({ method: "PATCH", path: `${path}/a?${query}`, type: merge, body: {}, pick });
    await run.call({ method: "PATCH", path: `${path}/e?${query}`, type: apply, body: podTemplate("e"), pick });
    await run.call({ method: "DELETE", path: `${path}/b?${query}`, pick });
    await run.call({ method: "DELETE", path: `${path}?${query}&labelSelector=none`, pick });
    await run.call({ path: `${path}/a?${query}`, pick });
  })
);

const finalizes: readonly ConformanceCase[] = ["none", "NONE", "a_b", "-", "a".repeat(64), "NAMESPACE"].map((name) =>
  scenario(`finalize of the namespace ${name.length > 60 ? "with 64 characters" : name}`, async (run) => {
    const own = name === "NAMESPACE" ? run.namespace : name;
    const path = `/api/v1/namespaces/${own}/finalize`;
    const pick = ({ kind, spec }: { readonly kind: unknown; readonly spec: unknown }) => ({ kind, spec });
    const bodies: readonly unknown[] = [
      { metadata: { name: own }, spec: { finalizers: ["kubernetes"] } },
      { metadata: { name: "other" }, spec: { finalizers: ["kubernetes"] } },
      { metadata: {}, spec: { finalizers: [] } },
      { metadata: { name: own }, spec: { finalizers: ["bad name"] } },
      { metadata: { name: own }, spec: { finalizers: ["example.com/mine", "kubernetes"] } },
      { metadata: { name: own, resourceVersion: "1" }, spec: { finalizers: ["kubernetes"] } },
      {},
      pod("a"),
      "text",
    ];
    for (const body of bodies) await run.call({ method: "PUT", path: `${path}?dryRun=All`, body, pick });
    await run.call({ path });
    await run.call({ method: "POST", path, body: bodies[0] });
    await run.call({ method: "PATCH", path, type: "application/merge-patch+json", body: {} });
    await run.call({ method: "DELETE", path });
  })
);

const uids: readonly ConformanceCase[] = [
  scenario("finalize of a namespace with another UID", async (run) => {
    const path = `/api/v1/namespaces/${run.namespace}`;
    const { metadata: { uid } } = await run.call({ path, pick: ({ metadata: { uid } }) => ({ metadata: { uid } }) });
    const pick = ({ kind, spec }: { readonly kind: unknown; readonly spec: unknown }) => ({ kind, spec });
    const spec = { finalizers: ["kubernetes"] };
    const named = { name: run.namespace };
    const bodies: readonly unknown[] = [
      { metadata: { ...named, uid: "other" }, spec },
      { metadata: { ...named, uid: "other", resourceVersion: "1" }, spec },
      { metadata: { ...named, uid: "other" }, spec: { finalizers: ["bad name"] } },
      { metadata: { name: "other", uid: "other" }, spec },
      { metadata: { uid: "other" }, spec },
      { metadata: { ...named, uid, resourceVersion: "1" }, spec },
      { metadata: { ...named, uid }, spec },
    ];
    for (const query of ["", "?dryRun=All"]) {
      for (const body of bodies) await run.call({ method: "PUT", path: `${path}/finalize${query}`, body, pick });
    }
    const missing = { metadata: { name: "none", uid: "other" }, spec };
    await run.call({ method: "PUT", path: "/api/v1/namespaces/none/finalize", body: missing });
  }),
  scenario("updates with another UID, also as a dry run", async (run) => {
    const path = at(run, "podtemplates");
    await run.call({ path, body: podTemplate("a") });
    const other = { ...podTemplate("a"), metadata: { name: "a", uid: "other" } };
    for (const query of ["", "?dryRun=All"]) {
      await run.call({ method: "PUT", path: `${path}/a${query}`, body: other });
      await run.call({ method: "DELETE", path: `${path}/a${query}`, body: { preconditions: { uid: "other" } } });
    }
  }),
];

export const optionCases: readonly ConformanceCase[] = [
  ...lists,
  ...plain,
  ...watching,
  ...writing,
  ...finalizes,
  ...uids,
];
