/** Reads a configuration document: YAML or JSON, within bounds that are checked first. */
import { isScalar, parseDocument, visit, type Document } from 'yaml';
import { invalid } from '../../kernel/errors.js';

export const MAX_DOCUMENT_BYTES = 1024 * 1024;
const DOCUMENT_VERSION = 1;
const MAX_DEPTH = 20;
const MAX_VALUES = 200_000;
const MAX_ALIASES = 100;
/** Maximum brackets that are open together; the parser takes seconds to reject thousands. */
const MAX_OPEN_BRACKETS = 200;
/** Maximum lines and commas of YAML, so that parsing takes about a second. */
const MAX_YAML_SEPARATORS = 60_000;
const REPEATED_DASHES_PATTERN = /(?:- ){20}/;
const MAX_MESSAGE_LENGTH = 200;

export type Section = readonly Record<string, unknown>[];
export type ConfigDocument = ReadonlyMap<string, Section>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param isJson whether the body is declared as JSON; otherwise it is YAML
 * @param kinds sections that may occur
 * @throws ServiceError validation_failed, with paths in the document
 */
export function readDocument(bytes: Buffer, isJson: boolean, kinds: readonly string[]): ConfigDocument {
  const text = bytes.toString('utf8');
  const value = isJson ? parseJson(text) : parseYaml(text);
  checkBounds(value);
  if (!isObject(value)) throw invalid({ document: 'must be an object with `version: 1` and lists of objects' });
  const { version, ...sections } = value;
  const faults = Object.entries(sections).flatMap(([name, list]) => findSectionFaults(name, list, kinds));
  if (version !== DOCUMENT_VERSION)
    faults.unshift(['version', version === undefined ? 'is required: write `version: 1`' : 'must be 1']);
  if (faults.length > 0) throw invalid(Object.fromEntries(faults));
  return new Map(Object.entries(sections).map(([name, list]) => [name, (list ?? []) as Section]));
}

function findSectionFaults(name: string, list: unknown, kinds: readonly string[]): [path: string, fault: string][] {
  if (!kinds.includes(name)) return [[name.slice(0, 100), `is no section; the sections are ${kinds.join(', ')}`]];
  if (list === null) return [];
  if (!Array.isArray(list)) return [[name, 'must be a list']];
  return list.flatMap((entry, at): [string, string][] =>
    isObject(entry) ? [] : [[`${name}[${at}]`, 'must be an object']],
  );
}

const toSyntaxError = (format: string, { message }: Error): Error =>
  invalid({ document: `is not ${format}: ${message.split('\n')[0]?.slice(0, MAX_MESSAGE_LENGTH)}` });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw toSyntaxError('JSON', error as Error);
  }
}

function parseYaml(text: string): unknown {
  if (countOpenBrackets(text) > MAX_OPEN_BRACKETS || REPEATED_DASHES_PATTERN.test(text))
    throw invalid({ document: 'is nested too deeply' });
  if (countSeparators(text) > MAX_YAML_SEPARATORS)
    throw invalid({ document: `has more than ${MAX_YAML_SEPARATORS} lines and commas; send it as JSON` });
  // The parser's own check of keys takes quadratic time.
  const parsed = parseDocument(text, { version: '1.2', merge: true, uniqueKeys: false });
  const [problem] = [...parsed.errors, ...parsed.warnings];
  if (problem !== undefined) throw toSyntaxError('YAML', problem);
  rejectRepeatedKeys(parsed);
  try {
    return parsed.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (error) {
    throw toSyntaxError('YAML', error as Error);
  }
}

function countSeparators(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (text[at] === '\n' || text[at] === ',') count += 1;
  return count;
}

function rejectRepeatedKeys(parsed: Document): void {
  visit(parsed, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (names.has(name)) throw invalid({ document: `gives the key ${String(name).slice(0, 100)} twice` });
        names.add(name);
      }
    },
  });
}

function countOpenBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open += bracket === '[' || bracket === '{' ? 1 : -1;
    most = Math.max(most, open);
  }
  return most;
}

/** Also rejects cycles of aliases. */
function checkBounds(value: unknown): void {
  let values = 0;
  const visit = (one: unknown, depth: number): void => {
    values += 1;
    if (depth > MAX_DEPTH) throw invalid({ document: `is nested more than ${MAX_DEPTH} levels deep` });
    if (values > MAX_VALUES) throw invalid({ document: `has more than ${MAX_VALUES} values` });
    if (typeof one !== 'object' || one === null) return;
    for (const member of Object.values(one)) visit(member, depth + 1);
  };
  visit(value, 0);
}

const REFERENCE_PATTERN = /\$\{(?:env|file):/;

/** Lists the paths of texts that still hold a reference to a secret. */
export function listUnresolvedReferences(value: unknown, path: string): string[] {
  if (typeof value === 'string') return REFERENCE_PATTERN.test(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((one, at) => listUnresolvedReferences(one, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => listUnresolvedReferences(one, `${path}.${name}`));
}
