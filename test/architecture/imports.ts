/**
 * Every import of a TypeScript file, found by parsing it: static, type-only and re-exported ones,
 * `import()`, `require`, `import x = require`, `import('…').T` in types, and
 * `process.getBuiltinModule`. Beside them the other things that bind a file to the outside:
 * `process.env` and `console`. Rejected: searching with regular expressions, which comments fool.
 */
import { parse } from '@babel/parser';

export interface Import {
  /** The text between the quotes; `<computed>` where it is no literal. */
  module: string;
  /**
   * Names taken from it; `*` for all, `default` for the default. Empty: for its effects, or
   * computed.
   */
  names: readonly string[];
}

export interface FileFacts {
  imports: Import[];
  /** `process.env` or `console`, as often as they are used. */
  globals: string[];
}

interface Node {
  type: string;
  [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && typeof (value as { type?: unknown }).type === 'string';

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return '*';
  return String(node['type'] === 'StringLiteral' ? node['value'] : node['name']);
};

const literal = (node: unknown): string => {
  if (isNode(node) && node.type === 'StringLiteral') return String(node['value']);
  if (isNode(node) && node.type === 'TSLiteralType') return literal(node['literal']);
  const quasis = isNode(node) && node.type === 'TemplateLiteral' ? (node['quasis'] as Node[]) : [];
  const [only] = quasis;
  if (only !== undefined && quasis.length === 1) return String((only['value'] as { cooked?: string }).cooked);
  return '<computed>';
};

/** The names in `import { a, b as c } from`, `export { a } from`. */
function specifiers(node: Node): string[] {
  return (node['specifiers'] as Node[]).map((one) => {
    if (one.type === 'ImportDefaultSpecifier') return 'default';
    if (one.type === 'ImportNamespaceSpecifier' || one.type === 'ExportNamespaceSpecifier') return '*';
    return nameOf(one[one.type === 'ExportSpecifier' ? 'local' : 'imported']);
  });
}

const isMember = (node: Node, object: string, property: string): boolean =>
  (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') &&
  nameOf(node['object']) === object &&
  (isNode(node['property']) ? nameOf(node['property']) : '') === property;

function importOf(node: Node): Import | null {
  const source = node['source'];
  switch (node.type) {
    case 'ImportDeclaration':
      return { module: literal(source), names: specifiers(node) };
    case 'ExportNamedDeclaration':
      return isNode(source) ? { module: literal(source), names: specifiers(node) } : null;
    case 'ExportAllDeclaration':
      return { module: literal(source), names: ['*'] };
    case 'TSExternalModuleReference':
      return { module: literal(node['expression']), names: ['*'] };
    case 'TSImportType':
      return { module: literal(node['argument']), names: ['*'] };
    case 'ImportExpression':
      return { module: literal(source), names: ['*'] };
    case 'CallExpression': {
      const callee = node['callee'];
      const requires =
        isNode(callee) && (callee.type === 'Import' || (callee.type === 'Identifier' && callee['name'] === 'require'));
      const builtin = isNode(callee) && isMember(callee, 'process', 'getBuiltinModule');
      return requires || builtin ? { module: literal((node['arguments'] as unknown[])[0]), names: ['*'] } : null;
    }
    default:
      return null;
  }
}

/** @throws SyntaxError of the parser, with the file's name */
export function factsOf(source: string, file: string): FileFacts {
  const program: unknown = parse(source, {
    sourceType: 'module',
    sourceFilename: file,
    plugins: ['typescript', 'decorators-legacy'],
  }).program;
  const facts: FileFacts = { imports: [], globals: [] };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    const found = importOf(value);
    if (found !== null) facts.imports.push(found);
    if (isMember(value, 'process', 'env')) facts.globals.push('process.env');
    if (value.type === 'MemberExpression' && nameOf(value['object']) === 'console') facts.globals.push('console');
    for (const [member, inner] of Object.entries(value)) if (member !== 'loc') visit(inner);
  };
  visit(program);
  return facts;
}
