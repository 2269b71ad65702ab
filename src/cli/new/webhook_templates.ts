/** The files of `new --webhook`: webhooks for defaults and validation, and their tests. They fit every kind. */
import { type ProjectSpec, text } from "./templates.ts";

/** webhooks.ts */
export function webhooksText({ names }: ProjectSpec): string {
  const { kind, type, controller, constant } = names;
  return text(
    "/**",
    ` * The webhooks of ${kind}, which the API server asks before it stores an object. What a schema or a CEL rule can say belongs`,
    " * into resource.ts: it works without a webhook. Here stands what needs other fields, other objects or a better message.",
    " */",
    'import { type AdmissionWebhook, allow, defaulting, deny, validating, type Verdict } from "@pintle/controller/webhook";',
    `import { ${type} } from "./resource.ts";`,
    "",
    "/** The label that the defaulting webhook sets, unless the user has set it. */",
    'export const managedBy = "app.kubernetes.io/managed-by";',
    "",
    `export const ${constant.replace(/Controller$/, "Webhooks")}: readonly AdmissionWebhook[] = [`,
    `  defaulting(${type}, withDefaults),`,
    `  validating(${type}, {`,
    "    create: (object) => verdictOn(object),",
    "    update: () => allow(), // a name cannot change",
    "  }),",
    "];",
    "",
    `/** Returns the object with its defaults. It may be called twice for one object. */`,
    `function withDefaults(object: ${type}): ${type} {`,
    `  const labels = { [managedBy]: "${controller}", ...object.metadata.labels };`,
    "  return { ...object, metadata: { ...object.metadata, labels } };",
    "}",
    "",
    `function verdictOn({ metadata: { name = "" } }: ${type}): Verdict {`,
    '  if (!name.startsWith("kube-")) return allow();',
    "  return deny(`metadata.name: ${name} begins with kube-, which is reserved`);",
    "}",
  );
}

/** webhooks_test.ts */
export function webhooksTestText(project: ProjectSpec): string {
  const { names: { type, constant, controller }, imported } = project;
  const key = imported?.scope === "Cluster" ? "name" : "`default/${name}`";
  return text(
    "/** Tests of the webhooks: the API server in memory calls them as a real one does. */",
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    'import { World } from "@pintle/controller/testing";',
    `import { ${constant} } from "./controller.ts";`,
    `import { ${type} } from "./resource.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    'import { managedBy } from "./webhooks.ts";',
    "",
    "/** Creates the sample with this name and these labels. @returns The labels that the server has stored */",
    "async function storedLabels(name: string, labels: Readonly<Record<string, string>>) {",
    `  const world = await World.start({ controllers: [${constant}] });`,
    "  try {",
    `    const metadata = { ${
      imported === undefined ? 'namespace: "default", ' : ""
    }...sample.metadata, name, labels };`,
    `    await world.client.create(${type}, ${type}.parse({ ...sample, metadata }));`,
    `    return world.get(${type}, ${key}).metadata.labels ?? {};`,
    "  } finally {",
    "    await world[Symbol.asyncDispose]();",
    "  }",
    "}",
    "",
    'test("the defaulting webhook sets the label", async () => {',
    `  assert.equal((await storedLabels("one", {}))[managedBy], "${controller}");`,
    "});",
    "",
    'test("the defaulting webhook keeps the label of the user", async () => {',
    '  assert.equal((await storedLabels("one", { [managedBy]: "me" }))[managedBy], "me");',
    "});",
    "",
    'test("the validating webhook rejects a reserved name", async () => {',
    '  await assert.rejects(storedLabels("kube-one", {}), /kube-one begins with kube-, which is reserved/);',
    "});",
  );
}
