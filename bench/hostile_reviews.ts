/**
 * Reviews that need as much memory as a body of 6 MB can: wrong items, many objects, fields and texts, characters that take
 * two bytes each, numbers that need the slow parser. Every one is just within the limits of the webhook on bytes, nesting,
 * objects, fields, integers and memory, so that it is parsed; a long text fills the rest of the body.
 */

/** One body. */
export interface HostileReview {
  readonly name: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A part of a list, repeated until the body is full, and how often it may be at most. */
type Repeated = readonly [name: string, part: (index: number) => string, maxCount?: number];

/**
 * Below the limits of the webhook (src/webhook/_decode.ts): 100,000 fields of one object, 10,000
 * integers, and 24 MiB for what is parsed.
 */
const maxObjects = 235_000, maxFields = 99_000, maxIntegers = 9_900, maxItems = 1_000_000, maxTexts = 235_000;
const maxWideFields = 235_000, maxShapes = 38_000;

const lists: readonly Repeated[] = [
  ["small numbers", () => "1", maxItems],
  ["fractions", () => "0.5", maxItems],
  ["nulls", () => "null", maxItems],
  ["texts of two characters", (at) => `"${(at % 1296).toString(36).padStart(2, "0")}"`, maxTexts],
  ["different texts", (at) => `"t${at.toString(36)}"`, maxTexts],
  ["texts with characters of two bytes", (at) => `"\u0141${at.toString(36)}"`, maxTexts],
  ["empty objects", () => "{}", maxObjects],
  ["empty lists", () => "[]", maxObjects],
  ["objects with one field", () => '{"a":1}', maxObjects],
  ["objects with different fields", (at) => `{"a${at.toString(36)}":1}`, maxShapes],
  ["objects with two of few fields", (at) => `{"a${at % 300}":1,"b${Math.floor(at / 300)}":1}`, maxShapes],
  ["objects with eight fields", () => '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}', 88_000],
  ["integers of 64 bits", () => "9007199254740993", maxIntegers],
  ["one integer of 64 bits and small numbers", (at) => at === 0 ? "9007199254740993" : "1", maxItems],
];

/** Makes the JSON of a body that contains the JSON of a value. */
type ReviewOf = (value: string) => string;

/** AdmissionReviews of at most `sizeBytes` each. */
export function hostileReviews(sizeBytes: number): readonly HostileReview[] {
  return bodies(sizeBytes, admissionReview);
}

/** ConversionReviews of at most `sizeBytes` each, for the CronTab of bench/ours/converter.ts. Their objects are valid. */
export function hostileConversions(sizeBytes: number): readonly HostileReview[] {
  const many = (object: string) => Array(Math.floor((sizeBytes - 2_000) / (object.length + 1))).fill(object).join(",");
  return [
    ...bodies(sizeBytes, (value) => conversionReview(cronTab(`,"x":${value}`))),
    { name: "many objects", body: encoded(conversionReview(many(cronTab("")))) },
  ];
}

function bodies(sizeBytes: number, reviewOf: ReviewOf): readonly HostileReview[] {
  const review = (name: string, value: string) => ({ name, body: encoded(reviewOf(value)) });
  /** A list and a long text. */
  const padded = (name: string, list: string) => {
    const rest = Math.max(0, sizeBytes - 2_000 - encoded(list).length);
    return review(name, `[${list},"${"x".repeat(rest)}"]`);
  };
  const text = (part: string) => `"${part.repeat(Math.floor((sizeBytes - 2_000) / encoded(part).length))}"`;
  return [
    ...lists.map((repeated) => padded(repeated[0], listOf(repeated, sizeBytes - 2_000))),
    padded("objects in objects", deep(sizeBytes - 2_000)),
    padded("objects with many fields", recordOf(sizeBytes - 2_000)),
    review("one text", text("x")),
    review("one text with one wide character", text("x").replace("x", "\u0141")),
    review("one text of digits", text("9")),
    review("one text of escapes", text("\\u0141")),
    { name: "not JSON", body: encoded("[".repeat(10) + "1,".repeat(sizeBytes / 2 - 10)) },
  ];
}

function listOf([, part, maxCount = Infinity]: Repeated, sizeBytes: number): string {
  const parts: string[] = [];
  for (let bytes = 2; parts.length < maxCount;) {
    const text = part(parts.length);
    bytes += text.length + 1 + (text.includes("\u0141") ? 1 : 0);
    if (bytes > sizeBytes) break;
    parts.push(text);
  }
  return `[${parts.join(",")}]`;
}

/** Chains of objects, 150 deep. */
function deep(sizeBytes: number): string {
  const chain = `${'{"a":'.repeat(150)}1${"}".repeat(150)}`;
  const count = Math.min(Math.floor(sizeBytes / (chain.length + 1)), Math.floor(maxObjects / 150));
  return `[${Array(count).fill(chain).join(",")}]`;
}

function recordOf(sizeBytes: number): string {
  const objects: string[] = [];
  for (let first = 0, bytes = 2; first < maxWideFields && bytes < sizeBytes; first += maxFields) {
    const count = Math.min(maxFields, maxWideFields - first, Math.floor((sizeBytes - bytes) / 14));
    if (count <= 0) break;
    objects.push(`{${Array.from({ length: count }, (_, at) => `"k${(first + at).toString(36)}":1`).join(",")}}`);
    bytes += (objects.at(-1) ?? "").length + 1;
  }
  return `[${objects.join(",")}]`;
}

/** A review of a new NodePool with the value as its spec. */
function admissionReview(value: string): string {
  const object = `{"apiVersion":"nodes.lailin.xyz/v1","kind":"NodePool","metadata":{"name":"a"},"spec":${value}}`;
  const kind = '{"group":"nodes.lailin.xyz","version":"v1","kind":"NodePool"}';
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":${kind},` +
    `"operation":"CREATE","userInfo":{"username":"a"},"object":${object}}}`;
}

function cronTab(fields: string): string {
  const spec = '{"schedule":"30 2","suspend":false}';
  return `{"apiVersion":"clock.example.dev/v1","kind":"CronTab","metadata":{"name":"a"},"spec":${spec}${fields}}`;
}

function conversionReview(objects: string): string {
  return '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1",' +
    `"desiredAPIVersion":"clock.example.dev/v2","objects":[${objects}]}}`;
}

const encoder = new TextEncoder();

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}
