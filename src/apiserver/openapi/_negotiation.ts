/** How an OpenAPI v2 document is written: as JSON, or in the protobuf encoding that Go clients ask for. */

/** The types that are answered. */
export const swaggerTypes = {
  json: "application/json",
  protobuf: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
} as const;

/** Two spellings: client-go up to 1.27 wrote the first. */
const forms: ReadonlyMap<string, keyof typeof swaggerTypes> = new Map([
  ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "protobuf"],
  [swaggerTypes.protobuf, "protobuf"],
  [swaggerTypes.json, "json"],
  ["application/*", "json"],
  ["*/*", "json"],
  ["*", "json"],
]);

/** The first form of an Accept header that can be written; undefined for none. */
export function negotiateSwagger(accept: string): keyof typeof swaggerTypes | undefined {
  if (accept.trim() === "") return "json";
  for (const clause of accept.split(",")) {
    const form = forms.get((clause.split(";")[0] ?? "").trim().toLowerCase());
    if (form !== undefined) return form;
  }
  return undefined;
}
