/**
 * The small shell of a simulated container: commands with quotes and variables, joined by `;`, `&&`, `||` and new lines. It
 * has no pipes, redirections (but `>&2`), loops or subshells, and says so.
 *
 * Guarantees: a script runs each of its commands at most once, so it ends when its `sleep` ends; exit codes are those of sh:
 * 2 for a syntax error, 127 for a command that does not exist.
 */
import { type ContainerView, normalizedPath } from "./_container_files.ts";

/** Where a command runs. */
export interface ShellHost {
  readonly view: ContainerView;
  /** Resolves when the client can take more. */
  write(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void>;
  /** The next bytes of stdin; undefined at its end. */
  read(): Promise<Uint8Array | undefined>;
  sleep(ms: number): Promise<void>;
}

/** The names of the commands, for messages. */
export const commandNames: readonly string[] = [
  ...[
    "cat",
    "cd",
    "echo",
    "env",
    "exit",
    "export",
    "false",
    "hostname",
    "ls",
    "printenv",
    "pwd",
    "sh",
    "sleep",
    "true",
  ],
];

const shells: ReadonlySet<string> = new Set(["sh", "bash", "ash"]);
const maxScriptLength = 64 * 1024;
const encoder = new TextEncoder();
const assignment = /^[A-Za-z_]\w*=/;

/** A part of a word. Only a variable outside of quotes is split at spaces. */
interface Part {
  readonly text: string;
  readonly isVariable: boolean;
  readonly isQuoted: boolean;
}

type Token = { readonly kind: "operator"; readonly text: string } | {
  readonly kind: "word";
  readonly parts: readonly Part[];
};

/** A script that this shell cannot read. */
class ShellSyntaxError extends Error {}

/** A shell with its variables and its working directory. */
export class Shell {
  readonly #host: ShellHost;
  readonly #variables: Map<string, string>;
  #directory: string;
  #status = 0;
  #hasExited = false;

  constructor(host: ShellHost) {
    this.#host = host;
    this.#variables = new Map(host.view.environment);
    this.#directory = normalizedPath("/", host.view.workingDirectory);
  }

  /** True after `exit`. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** True for a command that a simulated container has. */
  static has(name: string): boolean {
    const base = baseName(name);
    return shells.has(base) || commandNames.includes(base);
  }

  /** Runs a program with its arguments. @returns its exit code */
  async runProgram(words: readonly string[]): Promise<number> {
    const [name = "", ...rest] = words;
    if (!shells.has(baseName(name))) return await this.#command(words, "stdout");
    const at = rest.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word));
    if (at >= 0) return await this.runScript(rest[at + 1] ?? "");
    return await this.#runInput();
  }

  /** Runs a script. @returns the exit code of its last command */
  async runScript(script: string): Promise<number> {
    try {
      await this.#runTokens(tokensOf(script));
    } catch (error) {
      if (!(error instanceof ShellSyntaxError)) throw error;
      await this.#print("stderr", `sh: syntax error: ${error.message}\n`);
      this.#status = 2;
    }
    return this.#status;
  }

  /** Runs each line of stdin. */
  async #runInput(): Promise<number> {
    const decoder = new TextDecoder();
    let text = "";
    for (let bytes = await this.#host.read(); bytes !== undefined; bytes = await this.#host.read()) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > maxScriptLength) throw new RangeError("a line of stdin is too long");
      for (let end = text.indexOf("\n"); end >= 0 && !this.#hasExited; end = text.indexOf("\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        await this.runScript(line);
      }
      if (this.#hasExited) return this.#status;
    }
    return text === "" ? this.#status : await this.runScript(text);
  }

  async #runTokens(tokens: readonly Token[]): Promise<void> {
    let words: Token[] = [];
    let joiner = ";";
    const run = async () => {
      const isSkipped = (joiner === "&&" && this.#status !== 0) || (joiner === "||" && this.#status === 0);
      if (words.length > 0 && !isSkipped && !this.#hasExited) await this.#simpleCommand(words);
      words = [];
    };
    for (const token of tokens) {
      if (token.kind === "word" || token.text === ">&2") {
        words.push(token);
        continue;
      }
      if (words.length === 0) throw new ShellSyntaxError(`unexpected "${token.text}"`);
      await run();
      joiner = token.text;
    }
    if (words.length === 0 && (joiner === "&&" || joiner === "||")) throw new ShellSyntaxError("unexpected end");
    await run();
  }

  async #simpleCommand(tokens: readonly Token[]): Promise<void> {
    const target = tokens.some(({ kind }) => kind === "operator") ? "stderr" : "stdout";
    const words = tokens.flatMap((token) => token.kind === "word" ? this.#expand(token.parts) : []);
    while (words[0] !== undefined && assignment.test(words[0])) this.#assign(words.shift() ?? "");
    if (words.length === 0) return void (this.#status = 0);
    this.#status = await this.#command(words, target);
  }

  #assign(text: string): void {
    const at = text.indexOf("=");
    this.#variables.set(text.slice(0, at), text.slice(at + 1));
  }

  #expand(parts: readonly Part[]): readonly string[] {
    const words: string[] = [];
    let word = "";
    let isWord = false;
    // The value of an assignment is not split at spaces.
    const plain = parts.map(({ text, isVariable, isQuoted }) => isVariable || isQuoted ? " " : text).join("");
    const isAssignment = assignment.test(plain);
    for (const { text, isVariable, isQuoted } of parts) {
      const value = !isVariable ? text : text === "?" ? `${this.#status}` : this.#variables.get(text) ?? "";
      if (!isVariable || isQuoted || isAssignment) {
        word += value;
        isWord = true;
        continue;
      }
      const [first = "", ...rest] = value.split(/\s+/);
      word += first;
      isWord ||= first !== "";
      for (const next of rest) {
        if (isWord) words.push(word);
        word = next;
        isWord = next !== "";
      }
    }
    if (isWord) words.push(word);
    return words;
  }

  async #command([name = "", ...words]: readonly string[], target: "stdout" | "stderr"): Promise<number> {
    const print = (text: string) => this.#print(target, text);
    switch (baseName(name)) {
      case "true":
        return 0;
      case "false":
        return 1;
      case "exit":
        this.#hasExited = true;
        return words[0] === undefined ? this.#status : Number(words[0]) & 255;
      case "echo": {
        const isOpen = words[0] === "-n";
        await print(words.slice(isOpen ? 1 : 0).join(" ") + (isOpen ? "" : "\n"));
        return 0;
      }
      case "env":
      case "printenv":
        return await this.#environment(words, print);
      case "export":
        for (const word of words) if (word.includes("=")) this.#assign(word);
        return 0;
      case "pwd":
        await print(`${this.#directory}\n`);
        return 0;
      case "hostname":
        await print(`${this.#host.view.hostname}\n`);
        return 0;
      case "cd":
        return await this.#changeDirectory(words[0] ?? this.#variables.get("HOME") ?? "/");
      case "sleep":
        return await this.#sleep(words[0] ?? "");
      case "cat":
        return await this.#cat(words, target);
      case "ls":
        return await this.#list(words, print);
      case "sh":
      case "bash":
      case "ash":
        return await new Shell({ ...this.#host, view: { ...this.#host.view, environment: this.#variables } })
          .runProgram([name, ...words]);
      default:
        await this.#print("stderr", `sh: ${name}: not found (a simulated container has: ${commandNames.join(" ")})\n`);
        return 127;
    }
  }

  async #environment(names: readonly string[], print: (text: string) => Promise<void>): Promise<number> {
    const [name] = names;
    if (name === undefined) {
      await print([...this.#variables].map(([key, value]) => `${key}=${value}\n`).join(""));
      return 0;
    }
    const value = this.#variables.get(name);
    if (value === undefined) return 1;
    await print(`${value}\n`);
    return 0;
  }

  async #changeDirectory(path: string): Promise<number> {
    const directory = normalizedPath(this.#directory, path);
    if (this.#entries(directory) === undefined) {
      await this.#print("stderr", `sh: cd: ${path}: No such file or directory\n`);
      return 2;
    }
    this.#directory = directory;
    return 0;
  }

  async #sleep(text: string): Promise<number> {
    const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
    if (amount === undefined) {
      await this.#print("stderr", `sleep: invalid time interval '${text}'\n`);
      return 1;
    }
    const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit === "" ? "s" : unit] ?? 1;
    await this.#host.sleep(Number(amount) * seconds * 1000);
    return 0;
  }

  async #cat(paths: readonly string[], target: "stdout" | "stderr"): Promise<number> {
    let code = 0;
    for (const path of paths.length === 0 ? ["-"] : paths) {
      if (path === "-") {
        for (let bytes = await this.#host.read(); bytes !== undefined; bytes = await this.#host.read()) {
          await this.#host.write(target, bytes);
        }
        continue;
      }
      const full = normalizedPath(this.#directory, path);
      const bytes = this.#host.view.files.get(full);
      if (bytes !== undefined) await this.#host.write(target, bytes);
      else {
        const why = this.#entries(full) === undefined ? "No such file or directory" : "Is a directory";
        await this.#print("stderr", `cat: ${path}: ${why}\n`);
        code = 1;
      }
    }
    return code;
  }

  async #list(words: readonly string[], print: (text: string) => Promise<void>): Promise<number> {
    const paths = words.filter((word) => !word.startsWith("-"));
    let code = 0;
    for (const path of paths.length === 0 ? ["."] : paths) {
      const full = normalizedPath(this.#directory, path);
      const entries = this.#host.view.files.has(full) ? [path] : this.#entries(full);
      if (entries === undefined) {
        await this.#print("stderr", `ls: ${path}: No such file or directory\n`);
        code = 1;
      } else await print(entries.map((entry) => `${entry}\n`).join(""));
    }
    return code;
  }

  /** The names in a folder; undefined if there is none. */
  #entries(path: string): readonly string[] | undefined {
    const { files, folders } = this.#host.view;
    const prefix = path === "/" ? "/" : `${path}/`;
    const names = new Set<string>();
    for (const full of [...files.keys(), ...folders]) {
      if (full.startsWith(prefix)) names.add(full.slice(prefix.length).split("/")[0] ?? "");
    }
    names.delete("");
    return names.size > 0 || folders.has(path) || path === "/" ? [...names].toSorted() : undefined;
  }

  async #print(stream: "stdout" | "stderr", text: string): Promise<void> {
    if (text !== "") await this.#host.write(stream, encoder.encode(text));
  }
}

function baseName(path: string): string {
  return /^\/(?:usr\/)?(?:local\/)?s?bin\/([^/]+)$/.exec(path)?.[1] ?? path;
}

/** Reads a script. @throws ShellSyntaxError */
function tokensOf(script: string): readonly Token[] {
  if (script.length > maxScriptLength) {
    throw new ShellSyntaxError(`the script is longer than ${maxScriptLength} characters`);
  }
  const tokens: Token[] = [];
  let parts: Part[] = [];
  const endWord = () => {
    if (parts.length > 0) tokens.push({ kind: "word", parts });
    parts = [];
  };
  const add = (text: string, isQuoted: boolean, isVariable = false) => void parts.push({ text, isQuoted, isVariable });
  let at = 0;
  const variable = (isQuoted: boolean) => {
    const [whole, braced, plain] = /^\$(?:\{(\w+)\}|(\w+|\?))/.exec(script.slice(at, at + 1_024)) ?? [];
    const next = script[at + 1] ?? "";
    if (whole === undefined && (next === "(" || next === "{")) throw unsupported(`$${next}`);
    if (whole === undefined) add("$", isQuoted);
    else add(braced ?? plain ?? "", isQuoted, true);
    at += whole?.length ?? 1;
  };
  while (at < script.length) {
    const letter = script[at] ?? "";
    const operator = /^(?:[12]?>&2|&&|\|\||;|\n)/.exec(script.slice(at, at + 4))?.[0];
    if (operator !== undefined && (!/^\d/.test(operator) || parts.length === 0)) {
      endWord();
      // Empty lines, and a new line after an operator, mean nothing.
      const last = tokens.at(-1);
      if (operator !== "\n" || last?.kind === "word" || last?.text === ">&2") {
        tokens.push({ kind: "operator", text: operator.endsWith(">&2") ? ">&2" : operator === "\n" ? ";" : operator });
      }
      at += operator.length;
    } else if (letter === " " || letter === "\t" || letter === "\r") {
      endWord();
      at++;
    } else if (letter === "#" && parts.length === 0) {
      while (at < script.length && script[at] !== "\n") at++;
    } else if (letter === "'") {
      const end = script.indexOf("'", at + 1);
      if (end < 0) throw new ShellSyntaxError("a quote is not closed");
      add(script.slice(at + 1, end), true);
      at = end + 1;
    } else if (letter === '"') {
      add("", true);
      for (at++; script[at] !== '"';) {
        if (at >= script.length) throw new ShellSyntaxError("a quote is not closed");
        if (script[at] === "$") variable(true);
        else if (script[at] === "\\" && '$"\\`'.includes(script[at + 1] ?? " ")) {
          add(script[at + 1] ?? "", true);
          at += 2;
        } else add(script[at++] ?? "", true);
      }
      at++;
    } else if (letter === "\\") {
      add(script[at + 1] ?? "", true);
      at += 2;
    } else if (letter === "$") variable(false);
    else if ("|<>&()`".includes(letter)) throw unsupported(letter);
    else {
      add(letter, false);
      at++;
    }
  }
  endWord();
  return tokens;
}

function unsupported(text: string): ShellSyntaxError {
  return new ShellSyntaxError(`a simulated container has no "${text}"`);
}
