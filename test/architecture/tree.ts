/**
 * Reads a tree of sources and judges it whole: each file by the rules, and the units together for
 * circles.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sortByDependency } from '../../kernel/dependency-order.js';
import { factsOf, type FileFacts } from './imports.js';
import { RULES, targetOf, unitOf, violationsOf } from './rules.js';

const LAYERS = new Set([
  'main.ts',
  'kernel',
  'ports',
  'lib',
  'adapters',
  'plugins',
  'web',
  'config',
  'clients',
  'test',
  'scripts',
]);
const SKIPPED = /^(test\/fixtures|adapters\/cli\/templates|node_modules|dist)(\/|$)/;
const SOURCE = /(?<!\.d)\.(ts|mts|cts)$/;

/** Paths relative to `root`, with slashes, sorted. */
export async function sources(root: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (SKIPPED.test(path) || (folder === '' && !LAYERS.has(entry.name))) continue;
      if (entry.isDirectory()) await walk(path);
      else if (SOURCE.test(entry.name)) found.push(path);
    }
  };
  await walk('');
  return found.sort();
}

export interface Judgement {
  violations: string[];
  /** How many files were read in each layer: a check that sees nothing must not be green. */
  seen: Map<string, number>;
}

export async function judge(root: string): Promise<Judgement> {
  const facts = new Map<string, FileFacts>();
  for (const file of await sources(root)) facts.set(file, factsOf(await readFile(join(root, file), 'utf8'), file));
  const seen = new Map<string, number>(RULES.map(({ layer }) => [layer, 0]));
  for (const file of facts.keys()) {
    const layer = RULES.find(({ files }) => files.test(file))?.layer ?? 'none';
    seen.set(layer, (seen.get(layer) ?? 0) + 1);
  }
  const violations = [...facts].flatMap(([file, found]) => violationsOf(file, found));
  return { violations: [...violations, ...circles(facts), ...fileCircles(facts), ...folderCircles(facts)], seen };
}

/** Units that import each other, in full, with a file for each step. */
function circles(facts: ReadonlyMap<string, FileFacts>): string[] {
  const steps = new Map<string, Map<string, string>>();
  for (const [file, { imports }] of facts) {
    const unit = unitOf(file);
    if (unit === 'test' || unit === 'scripts') continue;
    const out = steps.get(unit) ?? new Map<string, string>();
    steps.set(unit, out);
    for (const { module } of imports) {
      const target = targetOf(file, module);
      if (target !== null && unitOf(target) !== unit) out.set(unitOf(target), `${file} imports ${module}`);
    }
  }
  const units = [...steps].map(([id, out]) => ({ id, after: [...out.keys()] }));
  return sortByDependency(units).circles.map((circle) => {
    const because = circle.slice(1).map((to, i) => steps.get(circle[i] as string)?.get(to));
    return `circle ${circle.join(' → ')}: ${because.join(', ')}`;
  });
}

/**
 * Files of one unit that import each other, types included: a circle that nobody can read from its
 * beginning.
 */
const fileCircles = (facts: ReadonlyMap<string, FileFacts>): string[] =>
  inside(facts, (file) => file).map((circle) => `circle of files: ${circle.join(' → ')}`);

/**
 * Folders of one unit that import each other: none of them can be read, moved or deleted alone. A
 * file that stands beside the folders is a place of its own.
 */
const folderCircles = (facts: ReadonlyMap<string, FileFacts>): string[] =>
  inside(facts, (file) => (dirname(file) === unitOf(file) ? file : dirname(file)))
    .filter((circle) => circle.some((place) => !facts.has(`${place}.ts`)))
    .map((circle) => `circle of folders: ${circle.join(' → ')}`);

/** The circles between the places inside of each unit; `placeOf` says where a file is. */
function inside(facts: ReadonlyMap<string, FileFacts>, placeOf: (bareFile: string) => string): string[][] {
  const bare = (file: string): string => file.replace(/\.(ts|mts|cts)$/, '');
  const known = new Set([...facts.keys()].map(bare));
  const after = new Map<string, Set<string>>();
  for (const [file, { imports }] of facts) {
    const unit = unitOf(file);
    if (unit === 'test' || unit === 'scripts') continue;
    const place = placeOf(bare(file));
    const steps = after.get(place) ?? new Set<string>();
    after.set(place, steps);
    for (const { module } of imports) {
      const target = targetOf(file, module);
      if (target === null || !known.has(target) || unitOf(target) !== unit) continue;
      if (placeOf(target) !== place || target === bare(file)) steps.add(placeOf(target));
    }
  }
  return sortByDependency([...after].map(([id, steps]) => ({ id, after: [...steps] }))).circles;
}

/** The folder of the sources, wherever the compiled tests lie; they may be built outside of it. */
export function projectRoot(): string {
  for (let at = import.meta.dirname; at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'tsconfig.json'))) return at;
  return process.cwd();
}
