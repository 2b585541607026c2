import type { SketchHash } from '../../../lib/text/distinct-sketch.js';
import type { Update } from '../../../ports/store/index.js';

export interface HourDelta {
  inc: { [path: string]: number };
  /** Paths that are set once: reporters. */
  marks: Set<string>;
  people: SketchHash[];
  crashed: SketchHash[];
}

export const createEmptyDelta = (): HourDelta => ({ inc: {}, marks: new Set(), people: [], crashed: [] });

export function incrementDelta(delta: HourDelta, path: string, by: number): void {
  if (by !== 0) delta.inc[path] = (delta.inc[path] ?? 0) + by;
}

export function mergeDelta(delta: HourDelta, more: HourDelta): void {
  for (const [path, by] of Object.entries(more.inc)) incrementDelta(delta, path, by);
  for (const path of more.marks) delta.marks.add(path);
  for (const print of more.people) delta.people.push(print);
  for (const print of more.crashed) delta.crashed.push(print);
}

export const buildUpdate = ({ inc, marks }: HourDelta): Update => ({
  inc,
  max: Object.fromEntries([...marks].map((path) => [path, 1])),
});
