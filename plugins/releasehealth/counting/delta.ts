import type { Print } from '../../../lib/text/distinct-sketch.js';
import type { Update } from '../../../ports/store.js';

export interface Delta {
  inc: { [path: string]: number };
  /** Paths that are set once: reporters. */
  marks: Set<string>;
  people: Print[];
  crashed: Print[];
}

export const emptyDelta = (): Delta => ({ inc: {}, marks: new Set(), people: [], crashed: [] });

export function raise(delta: Delta, path: string, by: number): void {
  if (by !== 0) delta.inc[path] = (delta.inc[path] ?? 0) + by;
}

export function merge(delta: Delta, more: Delta): void {
  for (const [path, by] of Object.entries(more.inc)) raise(delta, path, by);
  for (const path of more.marks) delta.marks.add(path);
  for (const print of more.people) delta.people.push(print);
  for (const print of more.crashed) delta.crashed.push(print);
}

export const updateOf = ({ inc, marks }: Delta): Update => ({
  inc,
  max: Object.fromEntries([...marks].map((path) => [path, 1])),
});
