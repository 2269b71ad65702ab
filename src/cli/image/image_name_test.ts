import { assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { parseImageName, tagOf } from "./image_name.ts";

const full: Readonly<Record<string, string>> = {
  "website": "docker.io/library/website:1.0.0",
  "website:latest": "docker.io/library/website:latest",
  "team/website:2": "docker.io/team/website:2",
  "ghcr.io/team/web_site/x--y": "ghcr.io/team/web_site/x--y:1.0.0",
  "localhost/website": "localhost/website:1.0.0",
  "localhost:5000/website": "localhost:5000/website:1.0.0",
  "[::1]:5000/website:v1": "[::1]:5000/website:v1",
  "Registry/website": "Registry/website:1.0.0",
};

test("parseImageName() adds registry, folder and tag as docker does", () => {
  for (const [text, expected] of Object.entries(full)) {
    const name = parseImageName(text, "1.0.0");
    assertEquals(typeof name === "string" ? name : name.full, expected);
  }
  assertEquals(parseImageName("website", "7"), { short: "website:7", full: "docker.io/library/website:7", tag: "7" });
});

const refused: Readonly<Record<string, string>> = {
  "": '"" is not a part of a name',
  "Website": '"Website" has upper-case letters',
  "team/Website:1": '"Website" has upper-case letters',
  "a//b": '"" is not a part of a name',
  "-a": '"-a" is not a part of a name',
  "a..b": '"a..b" is not a part of a name',
  "website:": 'its tag "" is not',
  "website:a b": 'its tag "a b" is not',
  "website:.1": 'its tag ".1" is not',
  "web:site/x": '"web:site" is not a registry',
  "website@sha256:00": "it has a digest",
  [`${"x".repeat(300)}`]: "it has more than 255 characters",
  "https://example.com/x": '"https:" is not a registry',
};

test("parseImageName() says what is wrong with a name", () => {
  for (const [text, problem] of Object.entries(refused)) {
    assertStringIncludes(JSON.stringify(parseImageName(text, "1")), JSON.stringify(problem).slice(1, -1));
  }
});

test("tagOf() makes a tag of every version", () => {
  assertEquals(["1.2.3+build.7", "v1", "...", "-x", ""].map(tagOf), ["1.2.3-build.7", "v1", "latest", "x", "latest"]);
});
