/** The names of indexes. They tell which paths an index is over, and how. */
import { PATH, type IndexSpec } from '../../../ports/store.js';

/** An index as it is made. */
export interface Way extends IndexSpec {
  /** Of those that hold every document: pending rows (mark.ts) are not in it. */
  settled?: boolean;
}

/** The ways to make an index over the same fields. */
export const waysOf = (fields: readonly string[]): Way[] => [
  { fields },
  { fields, settled: true },
  { fields, sparse: true },
  ...fields.slice(1).map((sparse) => ({ fields, sparse })),
];

/** The field without which a document is not in the index. */
export function neededBy({ fields, unique, sparse = false }: IndexSpec): string | null {
  const [first = null] = fields;
  if (typeof sparse === 'string') return sparse;
  return unique || sparse ? first : null;
}

const SPARSE = 'sparse';

export const isSettled = (way: Way): boolean => way.settled === true && neededBy(way) === null;

function kindOf(index: Way): string {
  if (index.unique) return 'unique:';
  const needed = neededBy(index);
  if (needed === null) return isSettled(index) ? 'settled:' : '';
  return needed === index.fields[0] ? `${SPARSE}:` : `${SPARSE}(${needed}):`;
}

/** An index as its name tells it, which `labelOf` made; null for any other. */
export function declaredBy(name: string, label: string): Way | null {
  const [table, ...rest] = label.split(':');
  const fields = rest.at(-1)?.split(',') ?? [];
  if (table !== name || rest.length > 2 || !fields.every((path) => PATH.test(path))) return null;
  const known: Way[] = [...waysOf(fields), { fields, unique: true }];
  return known.find((way) => labelOf(name, way) === label) ?? null;
}

/** The field without which a document is not in the index of this name. */
export function neededIn(name: string, label: string): string | null {
  const index = declaredBy(name, label);
  return index && neededBy(index);
}

/** The index over marked rows (mark.ts) has another kind of name. */
export const labelOf = (name: string, index: Way): string => `${name}:${kindOf(index)}${index.fields.join(',')}`;
