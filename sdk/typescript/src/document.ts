/** A GraphQL document that knows what it takes and what it answers; those of Helix are in operations.ts. */
export interface Document<Answer, Variables> {
  readonly text: string;
  readonly types?: (variables: Variables) => Answer;
}

/** Puts a document and the fragments that it spreads together. */
export function gql(words: TemplateStringsArray, ...parts: Document<unknown, never>[]): Document<unknown, unknown> {
  return { text: words.reduce((text, word, index) => text + (parts[index - 1]?.text ?? "") + word) };
}
