/**
 * The types and classes that a source declares: which of them are exported, and what a class is
 * injected with.
 */
import { parse } from '@babel/parser';

export interface Declared {
  /** Exported types, interfaces, enumerations and classes, by their own names. */
  types: string[];
  /** `services` are classes, `injected` are all: also collections, ports and settings. */
  classes: { name: string; services: number; injected: number }[];
}

interface Node {
  type: string;
  [member: string]: unknown;
}

const TYPES = new Set(['ClassDeclaration', 'TSTypeAliasDeclaration', 'TSInterfaceDeclaration', 'TSEnumDeclaration']);

const nameOf = (node: Node): string => ((node['id'] as Node | null)?.['name'] as string | undefined) ?? 'default';

export function declaredIn(text: string): Declared {
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript', 'decorators-legacy'] });
  const found: Declared = { types: [], classes: [] };
  for (const node of program.body as unknown as Node[]) {
    const exported = node.type === 'ExportNamedDeclaration' || node.type === 'ExportDefaultDeclaration';
    const declared = exported ? (node['declaration'] as Node | null) : node;
    if (declared === null) continue;
    if (exported && TYPES.has(declared.type)) found.types.push(nameOf(declared));
    if (declared.type === 'ClassDeclaration')
      found.classes.push({ name: nameOf(declared), ...countInjected(declared) });
  }
  return found;
}

/** Parameters of the constructor that the container fills: those with `@inject`. */
function countInjected(declared: Node): { services: number; injected: number } {
  const members = (declared['body'] as Node)['body'] as Node[];
  const constructors = members.filter(({ kind }) => kind === 'constructor');
  const keys = constructors.flatMap((one) => (one['params'] as Node[]).flatMap(getInjectionKeys));
  return { services: keys.filter(isClassName).length, injected: keys.length };
}

const getInjectionKeys = ({ decorators }: Node): Node[] =>
  ((decorators as Node[] | null | undefined) ?? []).flatMap(({ expression }) => {
    const { callee, arguments: keys } = expression as { callee?: Node; arguments?: Node[] };
    return callee?.['name'] === 'inject' ? (keys ?? []) : [];
  });

/** Tokens are constants or calls: `DEPS.items`, `PROJECTS`, `added(POINT)`. */
const isClassName = ({ name }: Node): boolean => typeof name === 'string' && /[a-z]/.test(name);
