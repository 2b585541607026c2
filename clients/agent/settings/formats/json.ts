/**
 * JSON, also with comments and trailing commas. Nested keys are joined with `:`; a number is a place in a list that is
 * there.
 */
import { createScanner, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { FormatError, isBlank, lineEndOf, placeOf, splice, type Format, type SettingValue } from './format.js';

const DEFAULT_UNIT = '  ';

export const json: Format = {
  read(text, key) {
    if (isBlank(text)) return null;
    const { node, rest } = locate(parse(text), key.split(':'), key);
    return rest.length > 0 ? null : scalarOf(node, key);
  },

  write(text, key, value) {
    const names = key.split(':');
    if (isBlank(text)) return `${nested(names, value, '', DEFAULT_UNIT, lineEndOf(text))}${lineEndOf(text)}`;
    const root = parse(text);
    const { node, rest } = locate(root, names, key);
    const [name, ...inner] = rest;
    if (name === undefined) {
      scalarOf(node, key);
      return splice(text, node.offset, node.offset + node.length, JSON.stringify(value));
    }
    const layout = { unit: unitOf(text, root), eol: lineEndOf(text) };
    if (node.type === 'null') {
      const made = nested(rest, value, indentAt(text, node.offset), layout.unit, layout.eol);
      return splice(text, node.offset, node.offset + node.length, made);
    }
    if (node.type !== 'object') throw new FormatError(`holds no object at ${upTo(names, rest)}, which ${key} needs`);
    return insert(
      text,
      node,
      name,
      (indent) => (inner.length === 0 ? JSON.stringify(value) : nested(inner, value, indent, layout.unit, layout.eol)),
      layout,
    );
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

/** The deepest node on the way, and the names that are missing below it. */
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
  // Readers differ in which of them counts.
  if (found.length > 1) throw new FormatError(`has ${name} twice, on the way to ${key}`);
  return found[0]?.children?.[1];
}

function scalarOf(node: Node, key: string): SettingValue | null {
  if (node.type === 'object' || node.type === 'array') throw new FormatError(`holds an ${node.type} at ${key}`);
  return node.type === 'null' ? null : (node.value as SettingValue);
}

const upTo = (names: readonly string[], rest: readonly string[]): string =>
  names.slice(0, names.length - rest.length).join(':') || 'its root';

/** What is before the first character of the line that `offset` lies in. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The blanks of one level, as the file has them. */
function unitOf(text: string, root: Node): string {
  const first = root.children?.[0];
  if (first === undefined || !startsLine(text, first.offset)) return DEFAULT_UNIT;
  return indentAt(text, first.offset).slice(indentAt(text, root.offset).length) || DEFAULT_UNIT;
}

const startsLine = (text: string, offset: number): boolean =>
  /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));

function nested(names: readonly string[], value: SettingValue, indent: string, unit: string, eol: string): string {
  const [name, ...rest] = names;
  if (name === undefined) return JSON.stringify(value);
  const inner = nested(rest, value, indent + unit, unit, eol);
  return `{${eol}${indent}${unit}${JSON.stringify(name)}: ${inner}${eol}${indent}}`;
}

interface LayoutOfText {
  unit: string;
  eol: string;
}

function insert(
  text: string,
  object: Node,
  name: string,
  valueAt: (indent: string) => string,
  { unit, eol }: LayoutOfText,
): string {
  const last = object.children?.at(-1);
  const member = (indent: string): string => `${JSON.stringify(name)}: ${valueAt(indent)}`;
  if (last === undefined) return insertFirst(text, object, member, unit, eol);
  const { comma, lineEnd, afterComma } = tailOf(text, last);
  if (!startsLine(text, last.offset)) {
    const indent = indentAt(text, last.offset);
    if (comma) return splice(text, afterComma, afterComma, ` ${member(indent)},`);
    return splice(text, last.offset + last.length, last.offset + last.length, `, ${member(indent)}`);
  }
  const indent = indentAt(text, last.offset);
  const line = `${eol}${indent}${member(indent)}${comma ? ',' : ''}`;
  const longer = splice(text, lineEnd, lineEnd, line);
  return comma ? longer : splice(longer, last.offset + last.length, last.offset + last.length, ',');
}

function insertFirst(
  text: string,
  object: Node,
  member: (indent: string) => string,
  unit: string,
  eol: string,
): string {
  const outer = indentAt(text, object.offset);
  const from = object.offset + 1;
  const to = object.offset + object.length - 1;
  const held = text.slice(from, to);
  const line = `${eol}${outer}${unit}${member(outer + unit)}`;
  const at = from + held.trimEnd().length;
  return /[\r\n]/.test(text.slice(at, to)) ? splice(text, at, at, line) : splice(text, at, to, `${line}${eol}${outer}`);
}

/** What follows the last member on its line: a comma, comments. */
function tailOf(text: string, last: Node): { comma: boolean; afterComma: number; lineEnd: number } {
  const scanner = createScanner(text);
  scanner.setPosition(last.offset + last.length);
  const tail = { comma: false, afterComma: last.offset + last.length, lineEnd: last.offset + last.length };
  let beyondLine = false;
  for (;;) {
    scanner.scan();
    const end = scanner.getTokenOffset() + scanner.getTokenLength();
    const token = text.slice(scanner.getTokenOffset(), end);
    if (token === ',') {
      tail.comma = true;
      tail.afterComma = end;
      tail.lineEnd = end;
      beyondLine = false;
    } else if (token.startsWith('/')) {
      if (!beyondLine) tail.lineEnd = end;
    } else if (/^[\r\n]/.test(token)) {
      // A trailing comma may come lines later, after comments.
      if (tail.comma) return tail;
      beyondLine = true;
    } else if (!/^[ \t]/.test(token)) return tail;
  }
}
