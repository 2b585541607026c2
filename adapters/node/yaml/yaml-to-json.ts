import { isScalar, parseDocument, visit, type Document } from 'yaml';
import { YamlRejected } from '../../../ports/yaml-parser.js';

const MAX_ALIASES = 100;
/** Aliases repeat their values. */
const MAX_JSON_CHARACTERS = 2 * 1024 * 1024;
/** Maximum brackets that are open together; the parser takes seconds to reject thousands. */
const MAX_OPEN_BRACKETS = 200;
const REPEATED_DASHES_PATTERN = /(?:- ){20}/;
const MAX_SHOWN_CHARACTERS = 100;

/** @throws YamlRejected, and the errors of the library */
export function convertYamlToJson(text: string): string {
  if (countOpenBrackets(text) > MAX_OPEN_BRACKETS || REPEATED_DASHES_PATTERN.test(text))
    throw new YamlRejected('nested too deeply');
  // The parser's own check of keys takes quadratic time.
  const parsed = parseDocument(text, { version: '1.2', merge: true, uniqueKeys: false });
  const [problem] = [...parsed.errors, ...parsed.warnings];
  if (problem !== undefined) throw problem;
  rejectRepeatedKeys(parsed);
  const json = JSON.stringify(parsed.toJS({ maxAliasCount: MAX_ALIASES }) as unknown, rejectInfiniteNumber) ?? 'null';
  if (json.length > MAX_JSON_CHARACTERS) throw new YamlRejected('aliases repeat too much');
  return json;
}

function rejectInfiniteNumber(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new YamlRejected(`${value} is not supported`);
  return value;
}

function rejectRepeatedKeys(parsed: Document): void {
  visit(parsed, {
    Map: (_, { items }) => {
      const names = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (names.has(name)) throw new YamlRejected(`duplicate key ${String(name).slice(0, MAX_SHOWN_CHARACTERS)}`);
        names.add(name);
      }
    },
  });
}

function countOpenBrackets(text: string): number {
  let open = 0;
  let max = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open += bracket === '[' || bracket === '{' ? 1 : -1;
    max = Math.max(max, open);
  }
  return max;
}
