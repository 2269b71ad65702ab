/** Explaining a recording in words: what happened to an object and why, and why nothing happened. */
export { type Answer, answerWhy, type ObjectQuestion, type Question, type Sources } from "./answer.ts";
export { entriesIn, hubKind, membersIn } from "./clusters.ts";
export { causeTexts, changeText } from "./causes.ts";
export type { Explanation } from "./chains.ts";
export { History, type KindNames, type KnownController, type Subject } from "./history.ts";
export type { Chain, Step } from "./reconcile_chain.ts";
export { type ShardFact, withShard } from "./shards.ts";
export { findSubject, type FoundSubject, type SubjectWords } from "./subject.ts";
export { explanationLines, whyNotLines } from "./text.ts";
export type { ProcessFacts, Reason, WhyNot } from "./why_not.ts";
