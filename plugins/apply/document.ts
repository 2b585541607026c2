/** Reads a configuration document: YAML or JSON, within bounds that are checked first. */
import { invalid } from '../../kernel/errors.js';
import { YamlRejected, type YamlParser } from '../../ports/yaml-parser.js';

export const MAX_DOCUMENT_BYTES = 1024 * 1024;
const DOCUMENT_VERSION = 1;
const MAX_DEPTH = 20;
const MAX_VALUES = 200_000;
const MAX_FAULTS = 50;
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
export async function readDocument(
  bytes: Buffer,
  isJson: boolean,
  { kinds, yaml }: { kinds: readonly string[]; yaml: YamlParser },
): Promise<ConfigDocument> {
  const text = bytes.toString('utf8');
  const value = isJson ? parseJson(text) : await parseYaml(yaml, text);
  checkBounds(value);
  if (!isObject(value)) throw invalid({ document: 'must be an object with `version: 1` and lists of objects' });
  const { version } = value;
  const faults: [path: string, fault: string][] = [];
  if (version !== DOCUMENT_VERSION)
    faults.push(['version', version === undefined ? 'is required: add `version: 1`' : 'must be 1']);
  const names = Object.keys(value).filter((name) => name !== 'version');
  for (const name of names) {
    faults.push(...findSectionFaults(name, value[name], kinds));
    if (faults.length >= MAX_FAULTS) break;
  }
  if (faults.length > 0) throw invalid(Object.fromEntries(faults));
  return new Map(names.map((name) => [name, (value[name] ?? []) as Section]));
}

function findSectionFaults(name: string, list: unknown, kinds: readonly string[]): [path: string, fault: string][] {
  if (!kinds.includes(name)) return [[name.slice(0, 100), `is not a section; the sections are ${kinds.join(', ')}`]];
  if (list === null) return [];
  if (!Array.isArray(list)) return [[name, 'must be a list']];
  const at = list.findIndex((entry) => !isObject(entry));
  return at < 0 ? [] : [[`${name}[${at}]`, 'must be an object']];
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

async function parseYaml(yaml: YamlParser, text: string): Promise<unknown> {
  try {
    return await yaml.parse(text);
  } catch (error) {
    throw error instanceof YamlRejected ? toSyntaxError('YAML', error) : error;
  }
}

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
