/**
 * yamlText(): an object as go-yaml writes it: keys in order, lists not indented; in double quotes what a reader of YAML 1.1
 * would take for a number, a time or a flag, in single quotes what is no plain text for other reasons.
 */
import type { JsonObject } from "../model/mod.ts";
import { foldLines } from "./_fold_lines.ts";

/** The text. */
export async function yamlText(object: JsonObject): Promise<string> {
  // Loaded when somebody reads YAML: most servers of a test never write any.
  const { Document, visit } = await import("yaml");
  const document = new Document(object, { aliasDuplicateObjects: false, sortMapEntries: true, version: "1.1" });
  const patterns = document.schema.tags.flatMap((tag) => tag.default === true && "test" in tag ? tag.test ?? [] : []);
  visit(document, {
    Scalar(_, scalar) {
      const { value } = scalar;
      if (typeof value === "string" && patterns.some((pattern) => pattern.test(value))) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return foldLines(document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true }));
}
