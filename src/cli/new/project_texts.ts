/** What stands around the sources that `new` writes: sample, deno.json, .gitignore and a README with the next commands. */
import { fieldsOf } from "./children.ts";
import { type Subject, text } from "./source_texts.ts";

/** sample.json: for `dev --samples`, for the test and for `kubectl apply`. */
export function sampleText({ names, children }: Subject): string {
  const spec = Object.fromEntries(fieldsOf(children).map(({ name, sample }) => [name, sample]));
  return json({
    apiVersion: `${names.group}/v1alpha1`,
    kind: names.kind,
    metadata: { name: "hello" },
    spec,
  });
}

/** deno.json. @param library The clone of this package, as seen from the folder that is written. */
export function denoJsonText({ names: { controller } }: Subject, library: string, version: string): string {
  const specifier = `jsr:@pintle/controller@${version}`;
  return json({
    version: "0.1.0",
    links: [library],
    imports: {
      "@pintle/controller": specifier,
      "@pintle/controller/testing": `${specifier}/testing`,
    },
    tasks: {
      dev: `deno run -A main.ts dev ${controller} --samples`,
      test: "deno test -A --no-check",
      ok: "deno fmt --check && deno lint && deno check && deno test -A --no-check",
      compile: `sh '${library.replaceAll("'", "'\\''")}/compile.sh' --entry main.ts --outfile dist/${controller}`,
    },
    fmt: { lineWidth: 120, proseWrap: "preserve" },
    exclude: ["dist"],
  });
}

/** .gitignore */
export function gitignoreText(): string {
  return text("dist/", "node_modules/");
}

/** README.md. @param library Where the clone of this package is. */
export function readmeText({ names, children }: Subject, library: string): string {
  const { controller, kind, group, singular } = names;
  const means = children.map((child) => child.kind).join(" and ");
  return text(
    `# ${controller}`,
    "",
    `A Kubernetes controller. One ${kind} (\`${group}\`) becomes one ${means}.`,
    "",
    "```sh",
    "deno task test       # in memory: no cluster, no waiting",
    "deno task dev        # on a Kubernetes of its own, with the sample; Ctrl-C ends it",
    `deno task compile    # writes dist/${controller}`,
    "```",
    "",
    "Without Deno on the machine: `npx -y deno` in its place. While `deno task dev` runs, it says which kubeconfig",
    `kubectl takes: \`kubectl get ${singular}\`.`,
    "",
    "- [resource.ts](resource.ts): what somebody may ask for",
    "- [desired.ts](desired.ts): what that means",
    "- [controller.ts](controller.ts): what is watched, and what is written",
    "- [main.ts](main.ts): the program",
    "",
    "On a cluster:",
    "",
    "```sh",
    `dist/${controller} install-crds                         # server-side apply, waits until served`,
    `kubectl apply -f sample.json`,
    `dist/${controller} run ${controller}`,
    "```",
    "",
    `The library is a clone of Pintle at \`${library}\`, as \`links\` in deno.json says. Its README says more.`,
  );
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
