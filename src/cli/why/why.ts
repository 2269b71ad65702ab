/**
 * `why`: what happened to an object and why, or with `--not` why nothing happens, or with `--entry` what a log line belongs to,
 * as the chain of causes in words. It asks a running process, or reads the recording of one.
 *
 * Guarantees: it changes nothing. Of the cluster it asks only where the leader is, unless the command line says that.
 */
import { z } from "zod";
import { boundedParse } from "../../schema/mod.ts";
import {
  answerWhy,
  type Explanation,
  explanationLines,
  type KnownController,
  type Question,
  type WhyNot,
  whyNotLines,
} from "../../explain/mod.ts";
import { knownController } from "../../manager/mod.ts";
import {
  type Call,
  CommandError,
  type CompletionWord,
  exitCode,
  listenForInterrupts,
  subcommand,
} from "../command/mod.ts";
import { commandLineOnly, flag, namespaceName, oneOf, text, UsageError, wholeNumber } from "../flags/mod.ts";
import { formatValue } from "../output/mod.ts";
import { askDebugEndpoint, debugClientFlags } from "../debug/mod.ts";
import { readRecordingFiles } from "../recording/mod.ts";

const whyFlags = z.object({
  not: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--not",
    about: "why nothing happens: what the object waits for, and who ignored its last change",
  }),
  entry: flag(wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(), {
    ...commandLineOnly,
    flags: "--entry <number>",
    about: "instead of an object, the entry that a log line names: what led to it, and what it led to",
    example: "--entry 57",
  }),
  file: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--file <path>",
    about: "read a recording of run --record instead of asking a process",
    completes: "file",
  }),
  limit: flag(wholeNumber(1, 100).prefault("10"), {
    ...commandLineOnly,
    flags: "--limit <count>",
    about: "the most chains of causes, newest first",
  }),
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "every reconcile by itself, also those that wrote nothing",
  }),
  namespace: flag(namespaceName().optional(), {
    flags: "-n, --namespace <name>",
    about: "namespace of the object (default: the only one where that name is recorded, else default)",
    completes: "namespace",
  }),
  output: flag(oneOf(["json", "yaml"]).optional(), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "json or yaml, instead of sentences",
    example: "-o json",
  }),
  ...debugClientFlags.shape,
});

type WhyFlags = z.output<typeof whyFlags>;

/** The command. */
export const why = subcommand({
  description: [
    "Says what happened to an object and why: who changed which field, what that queued, and what the controller did, newest",
    "first. With --not it says why nothing happens, with --entry what a line of the log belongs to. It asks the debug endpoint of a running process (run --debug-bind-address),",
    "which is the leader unless --address names another one, or reads a recording.",
  ].join(" "),
  positionals: {
    syntax: "[object...]",
    about: "KIND [NAMESPACE/]NAME; the kind as kubectl takes it: deployments, deploy, Deployment, deployments.apps",
    words: ({ controllers }, typed) => typed.length === 0 ? kindWords(controllers.map(knownController)) : [],
  },
  examples: [
    { line: "deploy default/web", about: "who changed this Deployment, and what followed" },
    { line: "deploy web -n default --not", about: "why nothing happens to it" },
    { line: "--entry 57", about: "what belongs to the log line with entry=57" },
    { line: "deploy default/web --file incident.jsonl", about: "from the recording of a process that has ended" },
    { line: "deploy default/web -o json", about: "for a script" },
  ],
  flags: whyFlags,
  async run(call) {
    const { flags, session } = call;
    const { answer, now } = flags.file === undefined ? await ask(call) : await read(call, flags.file);
    if (flags.output !== undefined) session.printDocument(formatValue(answer, flags.output));
    else session.print(...("reasons" in answer ? whyNotLines(answer) : explanationLines(answer, now)));
    return exitCode.done;
  },
});

/** The kinds of the controllers: `deployments.apps`, as kubectl completes them. */
function kindWords(controllers: readonly KnownController[]): readonly CompletionWord[] {
  const kinds = new Map<string, string[]>();
  for (const { name, primary, watched } of controllers) {
    for (const { resource } of [primary, ...watched]) kinds.set(resource, [...kinds.get(resource) ?? [], name]);
  }
  return [...kinds].map(([value, names]) => ({ value, about: `watched by ${names.join(", ")}` }));
}

/** The answer, and the time of the question. */
interface Answered {
  readonly answer: Explanation | WhyNot;
  readonly now: number;
}

/** @throws UsageError when there are not two words, or beside them an entry */
function questionOf({ positionals, flags, session }: Call<WhyFlags>): Question {
  const { entry, not, namespace, member } = flags;
  const [kind = "", name, ...more] = positionals;
  if (entry !== undefined) {
    const other = positionals.length > 0 ? "an object" : not ? "--not" : flags.all ? "--all" : undefined;
    if (other === undefined) return { entry };
    throw new UsageError(
      `Cannot explain entry ${entry} and ${other} at once`,
      `Ask for one of them: ${session.operator.name} why --entry ${entry}`,
    );
  }
  if (name === undefined || more.length > 0) {
    throw new UsageError(
      `Cannot explain "${positionals.join(" ")}": it is not a kind and a name`,
      `Example: ${session.operator.name} why deploy default/web`,
    );
  }
  return { kind, name, namespace, isNot: not, ...(member === undefined ? {} : { cluster: member }) };
}

/** What a question asks for: `deploy web`, `entry 57`. */
function subjectText(question: Question): string {
  return "entry" in question ? `entry ${question.entry}` : `${question.kind} ${question.name}`;
}

/** The query of the debug endpoint. */
function queryOf(question: Question, { limit, all }: WhyFlags): URLSearchParams {
  const size = { limit: String(limit) };
  if ("entry" in question) return new URLSearchParams({ entry: String(question.entry), ...size });
  const query = new URLSearchParams({ kind: question.kind, key: question.name, ...size });
  if (question.namespace !== undefined) query.set("namespace", question.namespace);
  if (question.isNot) query.set("not", "");
  if (all) query.set("all", "");
  return query;
}

async function ask(call: Call<WhyFlags>): Promise<Answered> {
  const { flags, session } = call;
  const query = queryOf(questionOf(call), flags);
  using interrupts = listenForInterrupts(session);
  const value = await askDebugEndpoint(`/debug/why?${query}`, flags, session, interrupts.stop);
  const checked = boundedParse(flags.not ? whyNotSchema : explanationSchema, value);
  if (checked.kind === "valid") return { answer: checked.value as Answered["answer"], now: checked.value.now };
  throw new CommandError(`Cannot read the answer of the process: it has another shape`, {
    code: exitCode.failed,
    advice: "Use the program of the same version as the process",
  });
}

/** What is read of the answers; a process of another version may send more. */
const subjectSchema = z.object({ resource: z.string(), kind: z.string(), key: z.string() });
const entriesSchema = z.array(z.number());
const explanationSchema = z.object({
  now: z.number(),
  object: subjectSchema.optional(),
  chains: z.array(z.object({
    at: z.number(),
    outcome: z.string(),
    steps: z.array(z.object({ kind: z.string(), text: z.string(), at: z.number(), entries: entriesSchema })),
  })),
  notes: z.array(z.string()),
});
const whyNotSchema = z.object({
  now: z.number(),
  object: subjectSchema,
  reasons: z.array(
    z.object({
      kind: z.string(),
      text: z.string(),
      advice: z.string().optional(),
      at: z.number().optional(),
      entries: entriesSchema,
    }),
  ).min(1),
});

async function read(call: Call<WhyFlags>, path: string): Promise<Answered> {
  const { flags, session } = call;
  const question = questionOf(call);
  const { entries, isFirstMissing, cutLine } = await readRecordingFiles(path, { keepsStates: false });
  if (isFirstMissing) session.info("the first files of the recording are gone: what happened before is not known");
  if (cutLine !== undefined) session.info(`line ${cutLine} has no end: the process was ended while it wrote`);
  const controllers = session.operator.controllers.map(knownController);
  const now = entries.at(-1)?.at ?? 0;
  const answer = answerWhy(question, { entries, controllers, now, limit: flags.limit, isAll: flags.all });
  if (answer.kind === "answered") return { answer: answer.answer, now };
  const { problem, advice } = answer;
  throw new CommandError(`Cannot explain "${subjectText(question)}": ${problem}`, { code: exitCode.failed, advice });
}
