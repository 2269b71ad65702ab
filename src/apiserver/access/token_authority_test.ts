import { generateKeyPairSync } from "node:crypto";
import { assertEquals, assertNotEquals, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import type { JsonObject, ObjectReader } from "../model/mod.ts";
import { TokenAuthority } from "./token_authority.ts";

/** A reader of what may change between two looks. */
function readerOf(objects: Map<string, JsonObject>): ObjectReader {
  return {
    get: (collection, namespace, name) => objects.get(`${collection}/${namespace}/${name}`),
    list: () => [],
  };
}

const claims = { namespace: "a", name: "robot", uid: "u1", audiences: [], lifetimeSeconds: 600 };

function setUp() {
  const objects = new Map<string, JsonObject>([["serviceaccounts/a/robot", { metadata: { uid: "u1" } }]]);
  const clock = new VirtualClock();
  const admin = { name: "admin", uid: "", groups: [], extra: new Map() };
  const tokens = new TokenAuthority({ clock, objects: readerOf(objects), fixed: new Map([["fixed", admin]]) });
  return { objects, clock, tokens };
}

test("a token of a ServiceAccount is valid until it expires", async () => {
  const { clock, tokens } = setUp();
  const token = tokens.issue(claims);
  const { user, audiences } = tokens.read(token) ?? {};
  assertEquals(user?.name, "system:serviceaccount:a:robot");
  assertEquals(user?.groups, ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
  assertEquals(audiences, [tokens.issuer]);
  await clock.advance(599_000);
  assertNotEquals(tokens.read(token), undefined);
  await clock.advance(1_000);
  assertEquals(tokens.read(token), undefined);
});

test("a token becomes invalid with its ServiceAccount, even if another with its name is created", () => {
  const { objects, tokens } = setUp();
  const token = tokens.issue(claims);
  objects.set("serviceaccounts/a/robot", { metadata: { uid: "u2" } });
  assertEquals(tokens.read(token), undefined);
  objects.delete("serviceaccounts/a/robot");
  assertEquals(tokens.read(token), undefined);
});

test("a token that is bound to a Pod becomes invalid with the Pod", () => {
  const { objects, tokens } = setUp();
  objects.set("pods/a/p", { metadata: { uid: "p1" } });
  const token = tokens.issue({ ...claims, boundTo: { kind: "Pod", name: "p", uid: "p1" } });
  assertNotEquals(tokens.read(token), undefined);
  objects.delete("pods/a/p");
  assertEquals(tokens.read(token), undefined);
});

test("a modified or malformed token is invalid", () => {
  const { tokens } = setUp();
  const [head = "", body = "", signature = ""] = tokens.issue(claims).split(".");
  const other = btoa(JSON.stringify({ sub: "system:serviceaccount:a:admin" })).replaceAll("=", "");
  const flipped = (signature.startsWith("A") ? "B" : "A") + signature.slice(1);
  const none = btoa(JSON.stringify({ alg: "none", typ: "JWT" })).replaceAll("=", "");
  const changed = [
    `${head}.${other}.${signature}`,
    `${head}.${body}.${flipped}`,
    `${head}.${body}.`,
    `${none}.${body}.`,
    `${head}.${body}`,
    `${head}.${body}.!!`,
    "",
    "..",
    "nonsense",
  ];
  assertEquals(changed.map((token) => tokens.read(token)), changed.map(() => undefined));
});

test("tokens of another server are invalid", () => {
  const [one, other] = [setUp().tokens, setUp().tokens];
  other.issue(claims);
  assertEquals(other.read(one.issue(claims)), undefined);
});

test("a fixed token identifies its user, with the server as audience", () => {
  const { tokens } = setUp();
  assertEquals(tokens.read("fixed")?.user.name, "admin");
  assertEquals(tokens.read("fixed2"), undefined);
});

test("a token of another server is valid if a trusted key signed it and its issuer is known", () => {
  const { objects, clock } = setUp();
  const signingKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
    .export({ type: "pkcs8", format: "pem" }).toString();
  const reader = readerOf(objects);
  const token = new TokenAuthority({ clock, objects: reader, signingKey, issuers: ["https://old"] }).issue(claims);
  const nameOf = (issuers: readonly string[], trustedKeys: readonly string[]) =>
    new TokenAuthority({ clock, objects: reader, issuers, trustedKeys }).read(token)?.user.name;
  assertEquals(nameOf(["https://new", "https://old"], [signingKey]), "system:serviceaccount:a:robot");
  assertEquals(nameOf(["https://new"], [signingKey]), undefined);
  assertEquals(nameOf(["https://new", "https://old"], []), undefined);
});

test("a text without a key is refused", () => {
  const options = { clock: new VirtualClock(), objects: readerOf(new Map()) };
  const failure = /the text has no PEM block with a key/;
  assertThrows(() => new TokenAuthority({ ...options, trustedKeys: ["no key"] }), failure);
});
