import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { CelEnvironment } from "./mod.ts";
import { formatIssues } from "./issues.ts";

test("the text of very many issues takes work for those that it shows", () => {
  let slices = 0;
  const source = new class extends String {
    override slice(start?: number, end?: number): string {
      slices++;
      return super.slice(start, end);
    }
  }("x".repeat(50)) as unknown as string;
  const issues = Array.from({ length: 10_000 }, (_, index) => ({ offset: index % 50, message: "undeclared" }));
  assert(formatIssues(source, issues).endsWith("\n9900 more errors were truncated"));
  assert(slices <= 300, `${slices} slices`);
});

test("issues are shown in the order of the source, those without a place first", () => {
  const issues = [{ offset: 4, message: "b" }, { offset: 0, message: "a" }, { offset: -1, message: "c" }];
  const lines = formatIssues("x\ny z", issues).split("\n").filter((line) => line.startsWith("ERROR"));
  assertEquals(lines, ["ERROR: <input>:-1:0: c", "ERROR: <input>:1:1: a", "ERROR: <input>:2:3: b"]);
});

test("an expression with tens of thousands of issues has an answer", () => {
  const compiled = new CelEnvironment(new Map()).compile(`[${Array(30_000).fill("x").join()}]`);
  assert(compiled.kind === "failed" && compiled.message.endsWith("29900 more errors were truncated"));
});
