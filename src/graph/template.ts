/**
 * A template: the JSON of an object with expressions in its texts. It is checked against the schema of the kind when the graph
 * is read, so that a field that does not exist, or a value of a wrong type, is an error with its line.
 */
import {
  type CelType,
  formatType,
  isJsonArray,
  isJsonObject,
  type Json,
  jsonOf,
  type SchemaProps,
} from "../cel/mod.ts";
import {
  compileExpression,
  type Expression,
  partsOf,
  type TextPart,
  type Values,
  type Variables,
} from "./expression.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";
import { isOpen, literalProblem, propertyOf, typeProblem } from "./types.ts";

/** A compiled template. */
export interface Template {
  /** The variables that its expressions read. */
  readonly used: ReadonlySet<string>;
  /** The type of the value, when the template is a single expression. */
  readonly type?: CelType;
  /**
   * Returns the value; undefined when an optional value is absent. Fields without a value are left out.
   *
   * @throws MissingValueError when a value that an expression reads does not exist yet
   */
  render(values: Values): Json | undefined;
}

/**
 * Compiles a template.
 *
 * @param props The schema of the value; undefined when there is none.
 * @throws GraphError with the line of the first problem
 */
export function compileTemplate(
  json: Json,
  { props, variables, place }: { readonly props?: SchemaProps; readonly variables: Variables; readonly place: Place },
): Template {
  if (typeof json === "string") return compileText(json, { props, variables, place });
  const problem = props && literalProblem(json, props);
  if (problem !== undefined) throw new GraphError(place, `${problem}. Correct the value`);
  if (isJsonArray(json)) {
    const items = json.map((item, at) =>
      compileTemplate(item, { props: props?.items, variables, place: partOf(place, at) })
    );
    return { used: usedBy(items), render: (values) => items.flatMap((item) => item.render(values) ?? []) };
  }
  if (!isJsonObject(json)) return { used: new Set(), render: () => json };
  const fields = Object.entries(json).map(([name, value]) => {
    const inside = partOf(place, name);
    const field = props && propertyOf(props, name);
    if (props !== undefined && field === undefined && !isOpen(props) && props.preservesUnknownFields !== true) {
      throw new GraphError(inside, `the field does not exist. It has: ${[...props.properties.keys()].join(", ")}`);
    }
    return { name, template: compileTemplate(value, { props: field, variables, place: inside }) };
  });
  return {
    used: usedBy(fields.map(({ template }) => template)),
    render: (values) =>
      Object.fromEntries(fields.flatMap(({ name, template }) => {
        const value = template.render(values);
        return value === undefined || value === null ? [] : [[name, value] as const];
      })),
  };
}

/** The union of what the templates read. */
function usedBy(templates: readonly Template[]): ReadonlySet<string> {
  return new Set(templates.flatMap(({ used }) => [...used]));
}

interface TextContext {
  readonly props?: SchemaProps;
  readonly variables: Variables;
  readonly place: Place;
}

/** A text: one expression, whose value may have any type, or expressions between texts, which must be texts themselves. */
function compileText(text: string, { props, variables, place }: TextContext): Template {
  const parts = partsOf(text, place);
  const [first] = parts;
  if (parts.length === 1 && first?.kind === "expression") {
    const expression = compileExpression(first.source, variables, place);
    const problem = props && typeProblem(expression.type, props);
    if (problem !== undefined) throw new GraphError(place, `${problem}. Convert it, for example with string()`);
    const { used, type } = expression;
    return { used, type, render: (values) => jsonOf(expression.evaluate(values)) };
  }
  const problem = props && literalProblem(text, props);
  if (problem !== undefined) throw new GraphError(place, `${problem}. Correct the value`);
  return joined(parts, variables, place);
}

function joined(parts: readonly TextPart[], variables: Variables, place: Place): Template {
  const compiled = parts.map((part) =>
    part.kind === "text" ? part.text : textExpression(part.source, variables, place)
  );
  return {
    used: new Set(compiled.flatMap((part) => typeof part === "string" ? [] : [...part.used])),
    render: (values) => compiled.map((part) => typeof part === "string" ? part : textOf(part, values)).join(""),
  };
}

function textExpression(source: string, variables: Variables, place: Place): Expression {
  const expression = compileExpression(source, variables, place);
  if (["string", "dyn"].includes(expression.type.kind)) return expression;
  throw new GraphError(
    place,
    `\${${source}} stands in a text and is of the type ${formatType(expression.type)}. Use \${string(${source})}`,
  );
}

function textOf(expression: Expression, values: Values): string {
  const value = expression.evaluate(values);
  if (typeof value === "string") return value;
  throw new Error(`Cannot evaluate \${${expression.source}}: it stands in a text, and its value is none. Use string()`);
}
