/**
 * Reads configuration documents, resolves their references to secrets, and merges them. The service
 * never resolves references (contract 97, apply).
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { readVariable } from '../../../config/remote-env.js';
import { invalid } from '../../../kernel/errors.js';

const MAX_SECRET_BYTES = 64 * 1024;
const MAX_ALIASES = 100;
const REFERENCE_PATTERN = /\$\{(env|file):([^}]*)\}/g;

interface SourceEntry {
  file: string;
  document: Document;
  lines: LineCounter;
  /** Position in its file. */
  at: number;
}

export interface MergedConfig {
  document: Record<string, unknown>;
  /** Entries by section, in the order of the merged document. */
  sources: ReadonlyMap<string, readonly SourceEntry[]>;
}

interface ConfigFile {
  file: string;
  text: string;
}

/** @throws ServiceError validation_failed, with the file and the path of each fault */
export async function mergeConfigFiles(files: readonly ConfigFile[]): Promise<MergedConfig> {
  const document: Record<string, unknown> = {};
  const sources = new Map<string, SourceEntry[]>();
  for (const { file, text } of files) {
    const { parsed, lines, value } = parseConfigFile(file, text);
    const faults: Record<string, string> = {};
    const resolved = (await resolveReferences(value, '', dirname(resolve(file)), faults)) as Record<string, unknown>;
    if (Object.keys(faults).length > 0) throw invalid(faults);
    const { version, ...sections } = resolved;
    if (document['version'] !== undefined && document['version'] !== version)
      throw invalid({ version: `differs in ${file}` });
    document['version'] = version;
    for (const [name, list] of Object.entries(sections)) {
      const known = document[name] as unknown[] | undefined;
      // The service reports anything but a list.
      if (!Array.isArray(list) || (known !== undefined && !Array.isArray(known))) document[name] ??= list;
      else document[name] = [...(known ?? []), ...(list as unknown[])];
      const origins = (Array.isArray(list) ? list : []).map((_, at) => ({ file, document: parsed, lines, at }));
      sources.set(name, [...(sources.get(name) ?? []), ...origins]);
    }
  }
  return { document, sources };
}

function parseConfigFile(file: string, text: string): { parsed: Document; lines: LineCounter; value: object } {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { version: '1.2', merge: true, uniqueKeys: true, lineCounter: lines });
  const [problem] = [...parsed.errors, ...parsed.warnings];
  if (problem !== undefined) throw invalid({ [file]: `is not YAML: ${problem.message.split('\n')[0]}` });
  let value: unknown;
  try {
    value = parsed.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw invalid({ [file]: `is not YAML: ${(error as Error).message}` });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid({ [file]: 'must be an object with `version: 1` and lists of objects' });
  return { parsed, lines, value };
}

const joinPath = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

async function resolveReferences(
  value: unknown,
  path: string,
  folder: string,
  faults: Record<string, string>,
): Promise<unknown> {
  if (typeof value === 'string') return resolveText(value, path, folder, faults);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const [at, one] of value.entries()) list.push(await resolveReferences(one, `${path}[${at}]`, folder, faults));
    return list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = [];
  for (const [name, one] of Object.entries(value))
    members.push([name, await resolveReferences(one, joinPath(path, name), folder, faults)]);
  return Object.fromEntries(members);
}

async function resolveText(
  text: string,
  path: string,
  folder: string,
  faults: Record<string, string>,
): Promise<string> {
  const parts: string[] = [];
  let end = 0;
  for (const { 0: reference, 1: source, 2: name = '', index } of text.matchAll(REFERENCE_PATTERN)) {
    const found = source === 'env' ? readEnvironment(name) : await readSecretFile(resolve(folder, name));
    if ('fault' in found) faults[path] = `${reference} ${found.fault}`;
    else parts.push(text.slice(end, index), found.value);
    end = index + reference.length;
  }
  return [...parts, text.slice(end)].join('');
}

type SecretResult = { value: string } | { fault: string };

function readEnvironment(name: string): SecretResult {
  const value = readVariable(name);
  return value === undefined ? { fault: 'is not set in the environment' } : { value };
}

async function readSecretFile(path: string): Promise<SecretResult> {
  try {
    const { size } = await stat(path);
    if (size > MAX_SECRET_BYTES) return { fault: 'is larger than 64 KiB' };
    return { value: (await readFile(path, 'utf8')).replace(/\r?\n$/, '') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { fault: `cannot be read: ${code === 'ENOENT' ? 'the file does not exist' : code}` };
  }
}

const ENTRY_PATH_PATTERN = /^(\w+)\[(\d+)\](.*)$/;

/** Returns `aos.yaml, line 12` for a path of the merged document; null when it is unknown. */
export function locatePath(path: string, { sources }: Pick<MergedConfig, 'sources'>): string | null {
  const [, section = '', index, rest = ''] = ENTRY_PATH_PATTERN.exec(path) ?? [];
  const source = sources.get(section)?.[Number(index)];
  if (source === undefined) return null;
  const members = [...rest.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(([, name, at]) => name ?? Number(at));
  // A missing field has no line, so its object's is used.
  for (let length = members.length; length >= 0; length--) {
    const node = source.document.getIn([section, source.at, ...members.slice(0, length)], true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start !== undefined) return `${source.file}, line ${source.lines.linePos(start).line}`;
  }
  return source.file;
}
