/** A program that is started by twin_test.ts: it answers in capitals, and ends when it is told to. */
import process from "node:process";
import { answerTwin } from "./twin.ts";

await answerTwin((line) => {
  if (line === "end") process.exit(3);
  console.log(`not an answer to ${line}`);
  return Promise.resolve(line.toUpperCase());
});
