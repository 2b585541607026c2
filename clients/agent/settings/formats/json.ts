/** Nested keys are joined with `:`; a number is an existing list index. */
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
import {
  FormatError,
  isBlank,
  getLineEnd,
  formatPosition,
  spliceText,
  type SettingsFormat,
  type SettingValue,
} from './format.js';

export const jsonFormat: SettingsFormat = {
  read(text, key) {
    if (isBlank(text)) return null;
    const { node, rest } = locateNode(parseJsonTree(text), key.split(':'), key);
    return rest.length > 0 ? null : getScalar(node, key);
  },

  write(text, key, value) {
    const names = key.split(':');
    const formattingOptions = detectLayout(text);
    if (isBlank(text)) return `${editText('', names, value, formattingOptions)}${formattingOptions.eol}`;
    const { node, rest } = locateNode(parseJsonTree(text), names, key);
    const path = getNodePath(node);
    if (rest.length === 0) {
      getScalar(node, key);
      return editText(text, path, value);
    }
    if (node.type === 'null') return editText(text, path, nestValue(rest, value), formattingOptions);
    if (node.type !== 'object')
      throw new FormatError(`has no object at ${formatExistingPath(names, rest)}, which ${key} requires`);
    const last = node.children?.at(-1);
    if (last === undefined) return editText(text, [...path, ...rest], value, formattingOptions);
    return insertAfter(text, last, rest, value);
  },

  refusedKey: (key) => (key.split(':').some((name) => name === '') ? 'must be non-empty names joined with :' : null),
  refusedValue: () => null,
};

function parseJsonTree(text: string): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    throw new FormatError('is nested too deeply', { cause: error });
  }
  const [first] = errors;
  if (first !== undefined)
    throw new FormatError(
      `is not valid JSON: ${printParseErrorCode(first.error)} at ${formatPosition(text, first.offset)}`,
    );
  if (root?.type !== 'object') throw new FormatError('is not a JSON object');
  return root;
}

function locateNode(root: Node, names: readonly string[], key: string): { node: Node; rest: readonly string[] } {
  let node = root;
  for (const [at, name] of names.entries()) {
    const next = findChild(node, name, key);
    if (next === undefined) return { node, rest: names.slice(at) };
    node = next;
  }
  return { node, rest: [] };
}

function findChild(node: Node, name: string, key: string): Node | undefined {
  if (node.type === 'array') return /^\d{1,6}$/.test(name) ? node.children?.[Number(name)] : undefined;
  if (node.type !== 'object') return undefined;
  const found = (node.children ?? []).filter(({ children }) => children?.[0]?.value === name);
  if (found.length > 1) throw new FormatError(`has ${name} twice in the path of ${key}`);
  return found[0]?.children?.[1];
}

function getScalar(node: Node, key: string): SettingValue | null {
  if (node.type === 'object' || node.type === 'array') throw new FormatError(`contains an ${node.type} at ${key}`);
  return node.type === 'null' ? null : (node.value as SettingValue);
}

const formatExistingPath = (names: readonly string[], rest: readonly string[]): string =>
  names.slice(0, names.length - rest.length).join(':') || 'its root';

const MEMBER_TAIL_PATTERN = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)?[ \t]*(?=[\r\n])/;

/** Inserts below the last member and its comment, because `modify` would reformat their line. */
function insertAfter(text: string, last: Node, [name, ...inner]: readonly string[], value: SettingValue): string {
  const before = text.slice(text.lastIndexOf('\n', last.offset - 1) + 1, last.offset);
  const { eol, unit } = detectLayout(text);
  const startsLine = before.trim() === '';
  const gap = startsLine ? `${eol}${before}` : ' ';
  const made = JSON.stringify(nestValue(inner, value), null, startsLine ? unit : '').replaceAll('\n', gap);
  const member = `${gap}${JSON.stringify(name)}: ${made}`;
  const end = last.offset + last.length;
  const [tail, comma] = (startsLine ? MEMBER_TAIL_PATTERN.exec(text.slice(end)) : null) ?? ['', ''];
  return spliceText(text, end, end + tail.length, `${comma === '' ? ',' : ''}${tail}${member}${comma ?? ''}`);
}

const nestValue = (names: readonly string[], value: SettingValue): unknown =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

function detectLayout(text: string): FormattingOptions & { unit: string; eol: string } {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  return { unit, insertSpaces: !unit.startsWith('\t'), tabSize: unit.length, eol: getLineEnd(text) };
}

/** Without formatting options only the value changes. */
function editText(text: string, path: JSONPath, value: unknown, formattingOptions?: FormattingOptions): string {
  try {
    return applyEdits(text, modify(text, path, value, formattingOptions === undefined ? {} : { formattingOptions }));
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError('is nested too deeply', { cause: error });
    throw error;
  }
}
