/** The names of indexes. They tell which paths an index is over, and how. */
import { PATH, type IndexSpec } from '../../../ports/store.js';
import type { Tuning } from '../../../ports/store/tuning.js';

/** An index as it is made. */
export interface IndexShape extends IndexSpec {
  /** A document without this path is not in the index (a partial index). */
  needed?: string;
  /** The index holds every document but unindexed rows (mark.ts). */
  indexedRowsOnly?: boolean;
}

/** An index as it is declared. @param indexedRowsOnly as `IndexShape` has it */
export function shapeOf(index: IndexSpec, { sparse = [] }: Tuning, indexedRowsOnly = false): IndexShape {
  const needed = index.unique === true ? undefined : index.fields.find((path) => sparse.includes(path));
  return { ...index, indexedRowsOnly, ...(needed !== undefined && { needed }) };
}

/** The shapes of indexes over the same fields. */
export const shapesOf = (fields: readonly string[]): IndexShape[] => [
  { fields },
  { fields, indexedRowsOnly: true },
  ...fields.map((needed) => ({ fields, needed })),
];

/** The field without which a document is not in the index. */
export const neededBy = ({ fields, unique, needed }: IndexShape): string | null =>
  needed ?? (unique ? (fields[0] ?? null) : null);

export const leavesUnindexedOut = (index: IndexShape): boolean =>
  index.indexedRowsOnly === true && neededBy(index) === null;

/** What a label begins with, in the words of earlier stores: `settled` of an index that only indexed rows are in. */
function kindOf(index: IndexShape): string {
  if (index.unique) return 'unique:';
  const needed = neededBy(index);
  if (needed === null) return leavesUnindexedOut(index) ? 'settled:' : '';
  return needed === index.fields[0] ? 'sparse:' : `sparse(${needed}):`;
}

/** An index as its name tells it, which `labelOf` made; null for any other. */
export function declaredBy(name: string, label: string): IndexShape | null {
  const [table, ...rest] = label.split(':');
  const fields = rest.at(-1)?.split(',') ?? [];
  if (table !== name || rest.length > 2 || !fields.every((path) => PATH.test(path))) return null;
  const known: IndexShape[] = [...shapesOf(fields), { fields, unique: true }];
  return known.find((shape) => labelOf(name, shape) === label) ?? null;
}

/** The field without which a document is not in the index of this name. */
export function neededIn(name: string, label: string): string | null {
  const index = declaredBy(name, label);
  return index && neededBy(index);
}

/** The index over marked rows (mark.ts) has another kind of name. */
export const labelOf = (name: string, index: IndexShape): string => `${name}:${kindOf(index)}${index.fields.join(',')}`;
