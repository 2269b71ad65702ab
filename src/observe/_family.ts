/** One metric with all its cells, and its part of the Prometheus text. */
import type { Renderable, Sample } from "./_cells.ts";

/** What a family is made from. */
export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export class Family<Cell extends Renderable> {
  readonly #type: string;
  readonly #name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #create: () => Cell;
  /** By the cell's labels as the text has them, e.g. `code="200",verb="GET"`. */
  readonly #cells = new Map<string, Cell>();

  /** @throws {TypeError} when a name is not one that Prometheus accepts */
  constructor(type: string, options: FamilyOptions, create: () => Cell) {
    const { name, help, labelNames = [] } = options;
    const wrong = metricName.test(name) ? labelNames.find((label) => !labelName.test(label) || label === "le") : name;
    if (wrong !== undefined) throw new TypeError(`Cannot create metric "${name}": "${wrong}" is not a legal name`);
    this.#type = type;
    this.#name = name;
    this.#help = help;
    this.#labelNames = [...labelNames];
    this.#create = create;
  }

  labels(values: Readonly<Record<string, string>>): Cell {
    const text = this.#text(values);
    let cell = this.#cells.get(text);
    if (cell === undefined) this.#cells.set(text, cell = this.#create());
    return cell;
  }

  remove(values: Readonly<Record<string, string>>): void {
    this.#cells.delete(this.#text(values));
  }

  hasLabels(names: readonly string[]): boolean {
    return names.length === this.#labelNames.length && this.#labelNames.every((name, at) => name === names[at]);
  }

  render(): string {
    const name = this.#name;
    const lines = [`# HELP ${name} ${escapeHelp(this.#help)}`, `# TYPE ${name} ${this.#type}`];
    for (const [labels, cell] of this.#cells) {
      const sample: Sample = (suffix, extraLabel, value) => {
        const all = labels !== "" && extraLabel !== "" ? `${labels},${extraLabel}` : labels + extraLabel;
        lines.push(`${name}${suffix}${all === "" ? "" : `{${all}}`} ${numberText(value)}`);
      };
      cell.render(sample);
    }
    return lines.join("\n") + "\n";
  }

  #text(values: Readonly<Record<string, string>>): string {
    return this.#labelNames.map((name) => `${name}="${escapeLabel(values[name] ?? "")}"`).join(",");
  }
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (found) => found === "\n" ? "\\n" : "\\\\");
}

function escapeLabel(text: string): string {
  return text.replace(/[\\\n"]/g, (found) => found === "\n" ? "\\n" : `\\${found}`);
}
