/** Sorts plugins by dependency, otherwise in listed order. */
export interface Dependent {
  id: string;
  after: readonly string[];
}

export interface DependencyOrder {
  order: string[];
  /** `['a', 'b', 'a']` for "a after b after a". */
  circles: string[][];
}

export function sortByDependency(dependents: readonly Dependent[]): DependencyOrder {
  const known = new Set(dependents.map(({ id }) => id));
  const waiting = new Map(dependents.map(({ id, after }) => [id, new Set(after.filter((name) => known.has(name)))]));
  const order: string[] = [];
  for (let next = findFirstFree(waiting); next !== undefined; next = findFirstFree(waiting)) {
    order.push(next);
    waiting.delete(next);
    for (const after of waiting.values()) after.delete(next);
  }
  return { order, circles: findCircles(waiting) };
}

function findFirstFree(waiting: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  for (const [id, after] of waiting) if (after.size === 0) return id;
  return undefined;
}

function findCircles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const circles: string[][] = [];
  const reported = new Set<string>();
  for (const id of graph.keys()) {
    const circle = reported.has(id) ? null : findShortestCircle(graph, id);
    if (circle === null) continue;
    circles.push(circle);
    for (const member of circle) reported.add(member);
  }
  return circles;
}

function findShortestCircle(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | null {
  const paths: string[][] = [[start]];
  const seen = new Set<string>();
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const next of graph.get(path.at(-1) as string) ?? []) {
      if (next === start) return [...path, start];
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return null;
}
