/**
 * The names that a module exports, through every module that it passes on: types too, which do not
 * exist at run time.
 */
import { parse } from '@babel/parser';
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';

interface Node {
  type: string;
  [member: string]: unknown;
}

const nameOf = (node: unknown): string => String((node as Node)['name'] ?? (node as Node)['value']);

/** @param file path below `root`, with slashes */
export async function exportedNames(root: string, file: string, seen = new Set<string>()): Promise<Set<string>> {
  const names = new Set<string>();
  if (seen.has(file)) return names;
  seen.add(file);
  const text = await readFile(posix.join(root, file), 'utf8');
  const { program } = parse(text, { sourceType: 'module', plugins: ['typescript', 'decorators-legacy'] });
  for (const node of program.body as unknown as Node[]) {
    if (node.type === 'ExportAllDeclaration') {
      const target = posix.join(posix.dirname(file), nameOf(node['source'])).replace(/\.js$/, '.ts');
      for (const name of await exportedNames(root, target, seen)) names.add(name);
    }
    if (node.type !== 'ExportNamedDeclaration') continue;
    for (const one of node['specifiers'] as Node[]) names.add(nameOf(one['exported']));
    const declared = node['declaration'] as Node | null;
    if (declared?.['id']) names.add(nameOf(declared['id']));
    for (const one of (declared?.['declarations'] as Node[] | undefined) ?? []) names.add(nameOf(one['id']));
  }
  return names;
}
