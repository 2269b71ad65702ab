/**
 * The output of steps that run at the same time: the output of one step is printed as one block when the step ends. While
 * only one step runs, its output is printed as it comes.
 */

/** Collects the output of running steps. */
export class StepOutput {
  readonly #print: (text: string) => void;
  /** What was not printed yet, by step. */
  readonly #pending = new Map<string, string[]>();
  readonly #commands = new Map<string, string>();
  /** The step whose header was printed last. */
  #shown: string | undefined;
  #isAtLineStart = true;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** A step begins. */
  start(name: string, command: string): void {
    this.#pending.set(name, []);
    this.#commands.set(name, command);
    this.#showIfAlone();
  }

  /** A step printed something. */
  write(name: string, text: string): void {
    this.#pending.get(name)?.push(text);
    this.#showIfAlone();
  }

  /** A step ended; what it printed is shown. @param verdict `ok (1.0 s)` */
  end(name: string, verdict: string): void {
    this.#show(name);
    this.#line(`=== ${name}: ${verdict}`);
    this.#pending.delete(name);
    this.#commands.delete(name);
    this.#shown = undefined;
    this.#showIfAlone();
  }

  /** Prints which steps run. */
  heartbeat(seconds: number): void {
    this.#line(`--- ${seconds.toFixed(0)} s, running: ${[...this.#pending.keys()].join(", ")}`);
  }

  #showIfAlone(): void {
    const [name, ...others] = this.#pending.keys();
    if (name !== undefined && others.length === 0) this.#show(name);
  }

  #show(name: string): void {
    if (this.#shown !== name) {
      this.#line(`\n=== ${name}: ${this.#commands.get(name)}`);
      this.#shown = name;
    }
    const text = (this.#pending.get(name) ?? []).splice(0).join("");
    if (text === "") return;
    this.#print(text);
    this.#isAtLineStart = text.endsWith("\n");
  }

  #line(text: string): void {
    this.#print(`${this.#isAtLineStart ? "" : "\n"}${text}\n`);
    this.#isAtLineStart = true;
  }
}
