/** The documents of files that users name on the command line. */
export { type DocumentOptions, readDocuments, type YamlFileDocument } from "./read_documents.ts";
