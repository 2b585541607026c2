/**
 * JSON, with or without comments and trailing commas. Nested keys are joined with `:`; a number is
 * an existing list index.
 */
import {
  applyEdits,
  getNodePath,
  modify,
  parseTree,
  printParseErrorCode,
  type FormattingOptions,
  type JSONPath,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { FormatError, isBlank, lineEndOf, placeOf, splice, type Format, type SettingValue } from './format.js';

export const json: Format = {
  read(text, key) {
    if (isBlank(text)) return null;
    const { node, rest } = locate(parse(text), key.split(':'), key);
    return rest.length > 0 ? null : scalarOf(node, key);
  },

  write(text, key, value) {
    const names = key.split(':');
    const formattingOptions = layoutOf(text);
    if (isBlank(text)) return `${edit('', names, value, formattingOptions)}${formattingOptions.eol}`;
    const { node, rest } = locate(parse(text), names, key);
    const path = getNodePath(node);
    if (rest.length === 0) {
      scalarOf(node, key);
      return edit(text, path, value);
    }
    if (node.type === 'null') return edit(text, path, nest(rest, value), formattingOptions);
    if (node.type !== 'object') throw new FormatError(`holds no object at ${upTo(names, rest)}, which ${key} needs`);
    const last = node.children?.at(-1);
    if (last === undefined) return edit(text, [...path, ...rest], value, formattingOptions);
    return insertBehind(text, last, rest, value);
  },

  refusedKey: (key) =>
    key.split(':').some((name) => name === '') ? 'must be names joined with :, none of them empty' : null,
  refusedValue: () => null,
};

function parse(text: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    throw new FormatError('is nested too deep', { cause: error });
  }
  const [first] = errors;
  if (first !== undefined)
    throw new FormatError(`is no JSON: ${printParseErrorCode(first.error)} at ${placeOf(text, first.offset)}`);
  if (root?.type !== 'object') throw new FormatError('is no JSON object');
  return root;
}

function locate(root: Node, names: readonly string[], key: string): { node: Node; rest: readonly string[] } {
  let node = root;
  for (const [at, name] of names.entries()) {
    const next = childOf(node, name, key);
    if (next === undefined) return { node, rest: names.slice(at) };
    node = next;
  }
  return { node, rest: [] };
}

function childOf(node: Node, name: string, key: string): Node | undefined {
  if (node.type === 'array') return /^\d{1,6}$/.test(name) ? node.children?.[Number(name)] : undefined;
  if (node.type !== 'object') return undefined;
  const found = (node.children ?? []).filter(({ children }) => children?.[0]?.value === name);
  if (found.length > 1) throw new FormatError(`has ${name} twice, on the way to ${key}`);
  return found[0]?.children?.[1];
}

function scalarOf(node: Node, key: string): SettingValue | null {
  if (node.type === 'object' || node.type === 'array') throw new FormatError(`holds an ${node.type} at ${key}`);
  return node.type === 'null' ? null : (node.value as SettingValue);
}

const upTo = (names: readonly string[], rest: readonly string[]): string =>
  names.slice(0, names.length - rest.length).join(':') || 'its root';

const TAIL = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)?[ \t]*(?=[\r\n])/;

/** Inserts below the last member and its comment, because `modify` would reformat their line. */
function insertBehind(text: string, last: Node, [name, ...inner]: readonly string[], value: SettingValue): string {
  const before = text.slice(text.lastIndexOf('\n', last.offset - 1) + 1, last.offset);
  const { eol, unit } = layoutOf(text);
  const startsLine = before.trim() === '';
  const gap = startsLine ? `${eol}${before}` : ' ';
  const made = JSON.stringify(nest(inner, value), null, startsLine ? unit : '').replaceAll('\n', gap);
  const member = `${gap}${JSON.stringify(name)}: ${made}`;
  const end = last.offset + last.length;
  const [tail, comma] = (startsLine ? TAIL.exec(text.slice(end)) : null) ?? ['', ''];
  return splice(text, end, end + tail.length, `${comma === '' ? ',' : ''}${tail}${member}${comma ?? ''}`);
}

const nest = (names: readonly string[], value: SettingValue): unknown =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

function layoutOf(text: string): FormattingOptions & { unit: string; eol: string } {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return { unit, insertSpaces: !unit.startsWith('\t'), tabSize: unit.length, eol: lineEndOf(text) };
}

/** Without formatting options only the value changes. */
function edit(text: string, path: JSONPath, value: unknown, formattingOptions?: FormattingOptions): string {
  try {
    return applyEdits(text, modify(text, path, value, formattingOptions === undefined ? {} : { formattingOptions }));
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError('is nested too deep', { cause: error });
    throw error;
  }
}
