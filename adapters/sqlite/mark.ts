/** The mark of a row whose deferred columns lag behind its body, and how a table's schema tells what is deferred (unsettled.ts). */

/** 1 in a row whose deferred columns lag behind its body; else null. */
export const MARK = '"~"';

/** The index over marked rows; its name holds what is deferred, so that every connection learns it from the schema. */
export const markLabel = (name: string, deferred: readonly string[]): string => `${name}:unsettled:${deferred.join()}`;

/** What is deferred, from the names of a table's indexes. */
export function deferredOf(name: string, indexes: readonly string[]): string[] {
  const prefix = markLabel(name, []);
  const label = indexes.find((index) => index.startsWith(prefix));
  return label === undefined ? [] : label.slice(prefix.length).split(',');
}
