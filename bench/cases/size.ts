/** The size of the released binary, beside that of a program of one line on the same runtime. */
import { statSync } from "node:fs";
import { commandOf } from "../programs.ts";
import { bare, type Case, ours, type Setting } from "./case.ts";

/** Looks at files. */
export const sizeCase: Case = {
  name: "size",
  title: () => "the released binary",
  subjects: [
    { name: ours, program: "controller", args: [] },
    { name: bare, program: "empty", args: [] },
  ],
  makesOwnLoad: true,
  mostRuns: 1,
  run: ({ subjects }: Setting) => {
    const samples = subjects.map(({ name, program, args, checkout }) => {
      const [path = ""] = commandOf(program, args, checkout);
      return { subject: name, values: { binaryBytes: statSync(path).size } };
    });
    return Promise.resolve({ samples, facts: {} });
  },
};
