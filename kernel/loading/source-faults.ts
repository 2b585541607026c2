/** Checks literal names of views and jobs in a plugin's code once at its start. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

interface NamedReference {
  name: string;
  place: string;
}

/** So that comments can be removed. */
const TOKEN_PATTERN = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;
const IMPORT_PATTERN = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;
const VIEW_PATTERN = /\bnew\s+View\(\s*['"]([^'"\n]+)['"]/g;
const JOB_PATTERN = /\bjobs\s*\.\s*(?:enqueue|runNow)\(\s*['"]([^'"\n]+)['"]/g;
/** Exceeds any real plugin. */
const MAX_MODULES = 1_000;
const MAX_MODULE_BYTES = 2 * 1024 * 1024;

const blankOut = (text: string): string => text.replaceAll(/[^\n]/g, ' ');
const removeComments = (code: string): string =>
  code.replaceAll(TOKEN_PATTERN, (token) =>
    token.startsWith('//') || token.startsWith('/*') ? blankOut(token) : token,
  );

function readPluginModules(entry: string): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined && found.size < MAX_MODULES; file = waiting.pop()) {
    if (found.has(file) || !/\.[cm]?js$/.test(file) || !existsSync(file)) continue;
    const code = readFileSync(file, 'utf8');
    if (code.length > MAX_MODULE_BYTES) continue;
    const bare = removeComments(code);
    found.set(file, bare);
    for (const [, path = ''] of bare.matchAll(IMPORT_PATTERN)) waiting.push(join(dirname(file), path));
  }
  return found;
}

function findReferences(pattern: RegExp, modules: ReadonlyMap<string, string>, root: string): NamedReference[] {
  return [...modules].flatMap(([file, code]) =>
    [...code.matchAll(pattern)].map(({ 1: name = '', index }) => ({
      name,
      place: `${relative(root, file)}:${code.slice(0, index).split('\n').length}`,
    })),
  );
}

const formatList = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

export function findSourceFaults(
  entry: string,
  views: string | null,
  plugin: string,
  jobs: readonly string[],
): string[] {
  const modules = readPluginModules(entry);
  const root = findPackageFolder(entry);
  const there = views !== null && existsSync(views) ? readdirSync(views, { recursive: true, encoding: 'utf8' }) : [];
  const known = there.filter((file) => file.endsWith('.hbs')).map((file) => file.replaceAll('\\', '/').slice(0, -4));
  const folder = views === null ? 'views' : relative(root, views) || basename(views);
  const missing = findReferences(VIEW_PATTERN, modules, root)
    .filter(({ name }) => !known.includes(name))
    .map(
      ({ name, place }) =>
        `${place} renders the view "${name}", but ${folder}/${name}.hbs does not exist: create the file, or use one of these names: ${formatList(known)}`,
    );
  // A job is named with or without the plugin id; jobs of other plugins are not checked.
  const own = (name: string): string => (name.startsWith(`${plugin}.`) ? name.slice(plugin.length + 1) : name);
  const unknown = findReferences(JOB_PATTERN, modules, root)
    .filter(({ name }) => !own(name).includes('.') && !jobs.includes(own(name)))
    .map(
      ({ name, place }) =>
        `${place} enqueues the job "${name}", which setup does not return: define it in \`jobs\`, or use one of these names: ${formatList(jobs)}`,
    );
  return [...missing, ...unknown];
}

/** Path of a route or page, up to its first parameter. */
const PATH_PATTERN = /\bpath:\s*['"`](\/[^'"`{}$\s]+)|['"`](\/api\/[^'"`{}$\s]+)/g;

export function findRoutePaths(entry: string): string[] {
  const code = [...readPluginModules(entry).values()];
  const named = code.flatMap((text) => [...text.matchAll(PATH_PATTERN)].map(([, path, api]) => path ?? api ?? ''));
  return [...new Set(named)];
}

const FRAME_PATTERN = /\(?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^\n()]*?):\d+:\d+\)?$/gm;
/** The service may lie in a plugin's folder. */
const SERVICE_ROOT = join(import.meta.dirname, '..', '..');

export function listStackFiles(stack: string): string[] {
  return [...stack.matchAll(FRAME_PATTERN)].map(([, file = '']) =>
    file.startsWith('file:') ? fileURLToPath(file) : file,
  );
}

/** The plugin's module or one of its relative imports. */
export const isModuleOf = (entry: string, file: string): boolean => readPluginModules(entry).has(file);

/** Includes its dependencies. */
export function isInPackageOf(entry: string, file: string): boolean {
  const inside = (folder: string): boolean => file.startsWith(`${folder}${sep}`);
  const folder = findPackageFolder(entry);
  return existsSync(join(folder, 'package.json')) && inside(folder) && !inside(SERVICE_ROOT);
}

function findPackageFolder(entry: string): string {
  for (let at = dirname(entry); at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'package.json'))) return at;
  return dirname(entry);
}
