/**
 * The types and classes that a source declares: which of them are exported, and how many services a
 * class is given.
 */
import { parse } from '@babel/parser';

export interface Declared {
  /** Exported types, interfaces, enumerations and classes, by their own names. */
  types: string[];
  classes: { name: string; services: number }[];
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
      found.classes.push({ name: nameOf(declared), services: servicesOf(declared) });
  }
  return found;
}

/** Parameters of the constructor that the container fills: those with `@inject`. */
function servicesOf(declared: Node): number {
  const members = (declared['body'] as Node)['body'] as Node[];
  const constructors = members.filter(({ kind }) => kind === 'constructor');
  const counts = constructors.map((one) => (one['params'] as Node[]).filter(isInjected).length);
  return Math.max(0, ...counts);
}

const isInjected = ({ decorators }: Node): boolean =>
  ((decorators as Node[] | null | undefined) ?? []).some(({ expression }) => {
    const callee = (expression as Node)['callee'] as Node | undefined;
    return callee?.['name'] === 'inject';
  });
