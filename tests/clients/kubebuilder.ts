/**
 * A project as its users have it: written by kubebuilder's own commands, with an API, a controller and webhooks, and the
 * manifests that its Makefile generates. kubebuilder is pinned in kubebuilder/go.mod; the project, and what Go has built
 * of it, stay in the user's cache, because the first build takes minutes.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildGoPrograms, cacheDir, fillCache } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

const folder = join(import.meta.dirname ?? ".", "kubebuilder");

/** What a user of kubebuilder types. */
const commands: readonly (readonly string[])[] = [
  ["kubebuilder", "init", "--domain", "example.org", "--repo", "example.org/guestbook", "--project-name", "guestbook"],
  [
    ...["kubebuilder", "create", "api", "--group", "web", "--version", "v1", "--kind", "Guestbook"],
    ...["--resource", "--controller", "--make=false"],
  ],
  [
    ...["kubebuilder", "create", "webhook", "--group", "web", "--version", "v1", "--kind", "Guestbook"],
    ...["--defaulting", "--programmatic-validation", "--make=false"],
  ],
  ["make", "manifests", "generate"],
];

/** A copy of the project. Disposing removes it. */
export interface Project extends Disposable {
  readonly path: string;
  /** The variables of {@link goEnvironment}. */
  readonly env: Readonly<Record<string, string>>;
}

/** The project, or why there is none here. @throws Error when a command of the user fails */
export async function kubebuilderProject(): Promise<Project | { readonly reason: string }> {
  const built = await buildGoPrograms({
    name: "kubebuilder",
    moduleDir: folder,
    programs: { kubebuilder: "sigs.k8s.io/kubebuilder/v4" },
  });
  if (built.kind === "unavailable") return built;
  const root = join(cacheDir(), "kubebuilder-project");
  const key = createHash("sha256").update(JSON.stringify([basename(built.dir), commands])).digest("hex").slice(0, 16);
  const kept = join(root, key);
  const env = await goEnvironment();
  if (!existsSync(kept)) await fillCache(root, kept, (building) => scaffold(building, built.dir, env));
  const path = mkdtempSync(join(tmpdir(), "pintle-kubebuilder-"));
  cpSync(kept, path, { recursive: true });
  return { path, env, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

async function scaffold(cwd: string, programs: string, env: Project["env"]): Promise<void> {
  for (const [program = "", ...args] of commands) {
    const path = program === "kubebuilder" ? join(programs, program) : program;
    const ended = await run(path, args, { cwd, env });
    const text = ended.kind === "ended" ? `code ${ended.code}\n${ended.stderr}${ended.stdout}` : "it is missing";
    if (ended.kind !== "ended" || ended.code !== 0) throw new Error(`Cannot run ${program} ${args.join(" ")}: ${text}`);
  }
  // What make has installed there, by links to this folder, which is renamed.
  rmSync(join(cwd, "bin"), { recursive: true, force: true });
}

/**
 * The variables with which Go finds its caches without a home folder, runs tests that it has run before, builds what it can
 * share with the other programs of these tests (go_build.ts), and does not analyse all that a project depends on.
 */
async function goEnvironment(): Promise<Readonly<Record<string, string>>> {
  const names = ["GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS"] as const;
  const answer = await run("go", ["env", "-json", ...names]);
  if (answer.kind !== "ended") throw new Error("Cannot read the environment of Go: it is missing");
  const values: Record<string, string> = JSON.parse(answer.stdout);
  const flags = `${values["GOFLAGS"] ?? ""} -count=1 -trimpath -vet=off`.trim();
  return { ...values, CGO_ENABLED: "0", GOFLAGS: flags };
}

/** The edits of a user whose webhooks do something, and specs that call them through the API server. */
export function fillInWebhooks({ path }: Project): void {
  const file = join(path, "internal/webhook/v1/guestbook_webhook.go");
  const edits: readonly (readonly [before: string, after: string])[] = [
    ['import (\n\t"context"\n', 'import (\n\t"context"\n\t"errors"\n'],
    [
      "\t// TODO(user): fill in your defaulting logic.\n",
      '\tif obj.Spec.Foo == nil {\n\t\tobj.Spec.Foo = new("defaulted")\n\t}\n',
    ],
    [
      "\t// TODO(user): fill in your validation logic upon object creation.\n",
      '\tif *obj.Spec.Foo == "wrong" {\n\t\treturn nil, errors.New("foo is wrong")\n\t}\n',
    ],
  ];
  let text = readFileSync(file, "utf8");
  for (const [before, after] of edits) {
    if (!text.includes(before)) throw new Error(`Cannot edit ${file}: it has no ${JSON.stringify(before)}`);
    text = text.replace(before, after);
  }
  writeFileSync(file, text);
  cpSync(join(folder, "called_test.go.txt"), join(path, "internal/webhook/v1/called_test.go"));
}
