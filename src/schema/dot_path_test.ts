/** The text of paths, and a check that nothing keeps all of zod in the binary. */
import { readdirSync, readFileSync } from "node:fs";
import { assertEquals, test } from "../../tests/testing.ts";
import { dotPath } from "./dot_path.ts";

test("dotPath() joins names with dots and puts indexes and unusual keys in brackets", () => {
  const table: readonly (readonly [path: readonly PropertyKey[], text: string])[] = [
    [[], ""],
    [["spec"], "spec"],
    [["spec", "containers", 0, "image"], "spec.containers[0].image"],
    [[0, "a"], "[0].a"],
    [["metadata", "labels", "app.kubernetes.io/name"], 'metadata.labels["app.kubernetes.io/name"]'],
    [["a", ""], 'a[""]'],
    [[Symbol("s")], '["Symbol(s)"]'],
  ];
  for (const [path, text] of table) assertEquals(dotPath(path), text);
});

test("no file uses z.core or z.locales as a value, which would put every language of zod into the binary", () => {
  const src = new URL("../", import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts"));
  const uses = files.flatMap((name) =>
    readFileSync(new URL(name, src), "utf8").split("\n")
      .filter((line) => /\bz\.(core(\.util)?|locales)\.[a-z]/.test(line) && !/z\.core\.util\.[A-Z]/.test(line))
      .map((line) => `${name}: ${line.trim()}`)
  );
  assertEquals(uses, []);
});
