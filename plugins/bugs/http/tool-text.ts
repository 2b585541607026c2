/** Text for agents (contract 95, MCP): JSON inside JSON would escape quotes and line breaks. */
import { parseFrames } from '../grouping/stack-trace.js';
import { detectLibrary } from '../pages/trace/frame-libraries.js';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without quotes: `{name: node, tags: [a, b]}`. */
export function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  return isObject(value) ? `{${formatMembers(value).join(', ')}}` : String(value);
}

const formatMembers = (data: JsonObject): string[] =>
  Object.entries(data).map(([name, value]) => `${name}: ${formatValue(value)}`);

export const formatLines = (data: JsonObject): string => formatMembers(data).join('\n');

/** Consecutive library frames that become one line. */
const MIN_COLLAPSED_FRAMES = 3;

/** Makes paths relative and collapses library frames; `occurrences` shows all. */
export function shortenTrace(trace: string, roots: readonly string[]): string {
  const lines = trace.split('\n');
  const libraries = new Map<number, string>();
  for (const { line, file, function: name } of parseFrames(trace)) {
    const library = detectLibrary(file, name);
    if (library !== null) libraries.set(line, library);
  }
  const shown: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    let end = at;
    while (libraries.has(end)) end += 1;
    if (end - at < MIN_COLLAPSED_FRAMES) {
      shown.push(stripRoots(lines[at] ?? '', roots));
      continue;
    }
    const names = new Set(Array.from({ length: end - at }, (_, n) => libraries.get(at + n)));
    shown.push(`    … ${end - at} frames of ${[...names].slice(0, MIN_COLLAPSED_FRAMES).join(', ')}`);
    at = end - 1;
  }
  return shown.join('\n');
}

const COMMON_ROOTS = ['/usr/src/app/', '/var/task/', '/workspace/', '/srv/app/', '/opt/app/', '/app/'];

/** Compares frames with both an absolute and a relative path; longest first. */
export function findRoots(frames: readonly JsonObject[]): string[] {
  const stated = frames.flatMap(({ filename, abs_path: path }) =>
    typeof filename === 'string' && typeof path === 'string' && !isAbsolute(filename) && path.endsWith(`/${filename}`)
      ? [path.slice(0, -filename.length)]
      : [],
  );
  return [...new Set([...stated.filter((root) => root.length > 1), ...COMMON_ROOTS])].toSorted(
    (a, b) => b.length - a.length,
  );
}

const isAbsolute = (path: string): boolean => /^(?:[/\\]|[a-z][a-z0-9+.-]*:)/i.test(path);

export function stripRoots(text: string, roots: readonly string[]): string {
  for (const root of roots) {
    const at = text.indexOf(root);
    if (at >= 0 && !/[\w.-]/.test(text.charAt(at - 1)))
      return text.slice(0, at).replace(/file:\/\/$/, '') + text.slice(at + root.length);
  }
  return text;
}
