/** A DOCTYPE is rejected, because it changes how readers interpret the file. */
import { SaxesParser } from 'saxes';
import {
  FormatError,
  isBlank,
  getLineEnd,
  formatPosition,
  spliceText,
  type SettingsFormat,
  type SettingValue,
} from './format.js';

interface TextPiece {
  from: number;
  to: number;
  text: string;
}

interface XmlElement {
  name: string;
  tag: { from: number; to: number };
  selfClosing: boolean;
  /** Start of the end tag; for a self-closing element the end of its start tag. */
  close: number;
  children: XmlElement[];
  pieces: TextPiece[];
}

interface XmlPath {
  names: string[];
  attribute: string | null;
}

const DEFAULT_UNIT = '  ';
const NAME_PATTERN = /^[\p{L}_][\p{L}\p{N}._-]*(?::[\p{L}_][\p{L}\p{N}._-]*)?$/u;

export const xmlFormat: SettingsFormat = {
  read(text, key) {
    if (isBlank(text)) return null;
    const path = parsePath(key);
    const { element, rest } = locateElement(parseXml(text), path.names, key);
    if (rest.length > 0) return null;
    if (path.attribute !== null) return findAttribute(text, element, path.attribute)?.value ?? null;
    return getContent(element, key);
  },

  write(text, key, value) {
    const path = parsePath(key);
    if (isBlank(text)) return formatNewFile(path, value, getLineEnd(text));
    const root = parseXml(text);
    const { element, rest } = locateElement(root, path.names, key);
    if (rest.length > 0) return insertChild(text, root, element, { ...path, names: [...rest] }, value);
    if (path.attribute !== null) return setAttribute(text, element, path.attribute, value);
    getContent(element, key);
    return setContent(text, element, value);
  },

  refusedKey(key) {
    const { names, attribute } = parsePath(key);
    const fits =
      names.length > 0 &&
      [...names, ...(attribute === null ? [] : [attribute])].every((name) => NAME_PATTERN.test(name));
    return fits ? null : 'must be a path of elements such as root/element/@attribute';
  },

  refusedValue(value) {
    // eslint-disable-next-line no-control-regex -- what XML 1.0 cannot hold
    return typeof value === 'string' && (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(value) || !value.isWellFormed())
      ? 'has a character that is not allowed in XML'
      : null;
  },
};

function parsePath(key: string): XmlPath {
  const names = key.replace(/(?<![/:])@/, '/@').split(key.includes('/') ? '/' : /[/:]/);
  const attribute = names.at(-1)?.startsWith('@') === true ? (names.pop() ?? '').slice(1) : null;
  return { names, attribute };
}

function parseXml(text: string): XmlElement {
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let began = 0;
  const piece = (to: number, content: string): void => {
    open.at(-1)?.pieces.push({ from: began, to, text: content });
  };
  parser.on('error', (error) => {
    throw new FormatError(
      `is not valid XML: ${error.message.replace(/^\d+:\d+: /, '')} at ${formatPosition(text, parser.position)}`,
    );
  });
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^(utf-?8|us-ascii)$/i.test(encoding))
      throw new FormatError(`is XML in ${encoding}; only UTF-8 is supported`);
    began = parser.position;
  });
  parser.on('doctype', () => {
    throw new FormatError('has a DOCTYPE, which is not allowed');
  });
  parser.on('text', (content) => {
    // The parser has already read the bracket that ends a text.
    const to = text[parser.position - 1] === '<' ? parser.position - 1 : parser.position;
    piece(to, content);
    began = to;
  });
  parser.on('cdata', (content) => {
    piece(parser.position, content);
    began = parser.position;
  });
  for (const event of ['comment', 'processinginstruction'] as const)
    parser.on(event, () => {
      // A comment is reported before its last bracket is read.
      began = text.indexOf('>', parser.position - 1) + 1;
    });
  parser.on('opentag', ({ name, isSelfClosing }) => {
    const tag = { from: began, to: parser.position };
    const element = { name, tag, selfClosing: isSelfClosing, close: parser.position, children: [], pieces: [] };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
    began = parser.position;
  });
  parser.on('closetag', () => {
    const element = open.pop();
    if (element?.selfClosing === false) element.close = began;
    began = parser.position;
  });
  parser.write(text).close();
  if (root === undefined) throw new FormatError('is not valid XML: it has no element');
  return root;
}

function locateElement(
  root: XmlElement,
  names: readonly string[],
  key: string,
): { element: XmlElement; rest: readonly string[] } {
  if (names[0] !== root.name) throw new FormatError(`has the root element ${root.name}, which does not match ${key}`);
  let element = root;
  for (const [at, name] of names.entries()) {
    if (at === 0) continue;
    const found = element.children.filter((child) => child.name === name);
    if (found.length > 1) throw new FormatError(`has ${name} twice, on the way to ${key}`);
    if (found[0] === undefined) return { element, rest: names.slice(at) };
    element = found[0];
  }
  return { element, rest: [] };
}

function getContent({ children, pieces }: XmlElement, key: string): string | null {
  if (children.length > 0) throw new FormatError(`contains elements at ${key}`);
  return pieces.length === 0 ? null : pieces.map(({ text }) => text).join('');
}

/** Finds an attribute in a parsed start tag. `from` and `to` delimit the value without quotes. */
function findAttribute(
  text: string,
  { tag }: XmlElement,
  name: string,
): { from: number; to: number; value: string } | null {
  const pattern = /([^\s=<>/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
  const source = text.slice(tag.from, tag.to);
  for (const match of source.matchAll(pattern)) {
    if (match[1] !== name) continue;
    const raw = match[2] ?? match[3] ?? '';
    const to = tag.from + match.index + match[0].length - 1;
    return { from: to - raw.length, to, value: decodeAttribute(raw) };
  }
  return null;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const decodeAttribute = (raw: string): string =>
  raw
    .replace(/\r\n|[\r\n\t]/g, ' ')
    .replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, decimal?: string, name?: string) =>
      name === undefined
        ? String.fromCodePoint(Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16))
        : (ENTITIES[name] ?? whole),
    );

const escapeText = (value: SettingValue): string =>
  String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#13;');

const quoteAttribute = (value: SettingValue): string =>
  escapeText(value)
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\t', '&#9;');

function setAttribute(text: string, element: XmlElement, name: string, value: SettingValue): string {
  const found = findAttribute(text, element, name);
  if (found !== null) return spliceText(text, found.from, found.to, quoteAttribute(value));
  const { tag, selfClosing } = element;
  const end = tag.to - (selfClosing ? 2 : 1);
  const at = tag.from + text.slice(tag.from, end).trimEnd().length;
  return spliceText(text, at, at, ` ${name}="${quoteAttribute(value)}"`);
}

/**
 * Replaces the first text that is not blank; the rest of the old value is removed, comments stay.
 */
function setContent(text: string, element: XmlElement, value: SettingValue): string {
  const { pieces, selfClosing, tag, close, name } = element;
  if (selfClosing) {
    const start = text.slice(tag.from, tag.to - 2).trimEnd();
    return spliceText(text, tag.from, tag.to, `${start}>${escapeText(value)}</${name}>`);
  }
  const place = pieces.find((piece) => piece.text.trim() !== '') ?? pieces[0] ?? { from: close, to: close };
  let changed = text;
  for (const piece of pieces.toReversed())
    if (piece === place || piece.text.trim() !== '')
      changed = spliceText(changed, piece.from, piece.to, piece === place ? escapeText(value) : '');
  return pieces.length === 0 ? spliceText(changed, close, close, escapeText(value)) : changed;
}

function formatElement(
  { names, attribute }: XmlPath,
  value: SettingValue,
  indent: string,
  unit: string,
  eol: string,
): string {
  const [name = '', ...rest] = names;
  if (rest.length > 0) {
    const inner = formatElement({ names: rest, attribute }, value, indent + unit, unit, eol);
    return `<${name}>${eol}${indent}${unit}${inner}${eol}${indent}</${name}>`;
  }
  return attribute === null
    ? `<${name}>${escapeText(value)}</${name}>`
    : `<${name} ${attribute}="${quoteAttribute(value)}"/>`;
}

function formatNewFile(path: XmlPath, value: SettingValue, eol: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>${eol}${formatElement(path, value, '', DEFAULT_UNIT, eol)}${eol}`;
}

function insertChild(text: string, root: XmlElement, parent: XmlElement, path: XmlPath, value: SettingValue): string {
  if (parent.pieces.some((piece) => piece.text.trim() !== ''))
    throw new FormatError(`contains text at ${parent.name} instead of elements`);
  const eol = getLineEnd(text);
  const outer = getIndentAt(text, parent.tag.from);
  const sibling = parent.children.at(-1);
  const ownLine = sibling !== undefined && isAtLineStart(text, sibling.tag.from);
  const unit = detectIndentUnit(text, root);
  const indent = ownLine ? getIndentAt(text, sibling.tag.from) : outer + unit;
  const made = formatElement(path, value, indent, unit, eol);
  if (parent.selfClosing) {
    const start = text.slice(parent.tag.from, parent.tag.to - 2).trimEnd();
    return spliceText(
      text,
      parent.tag.from,
      parent.tag.to,
      `${start}>${eol}${indent}${made}${eol}${outer}</${parent.name}>`,
    );
  }
  if (sibling !== undefined && !ownLine) return spliceText(text, parent.close, parent.close, made);
  const at = parent.tag.to + text.slice(parent.tag.to, parent.close).trimEnd().length;
  const tail = /[\r\n]/.test(text.slice(at, parent.close)) ? '' : `${eol}${outer}`;
  return spliceText(text, at, tail === '' ? at : parent.close, `${eol}${indent}${made}${tail}`);
}

function detectIndentUnit(text: string, root: XmlElement): string {
  const first = root.children[0];
  return first !== undefined && isAtLineStart(text, first.tag.from)
    ? getIndentAt(text, first.tag.from) || DEFAULT_UNIT
    : DEFAULT_UNIT;
}

function getIndentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

const isAtLineStart = (text: string, offset: number): boolean =>
  /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset));
