/** The shared grouping vectors (contract 21, grouping). */
import { readFile } from 'node:fs/promises';

export interface GroupingVector {
  name: string;
  endpoint: string;
  a: Record<string, string>;
  b: Record<string, string>;
  same_group: boolean;
}

const file = new URL('../fixtures/vectors/grouping.json', import.meta.url);

export const { cases } = JSON.parse(await readFile(file, 'utf8')) as { cases: GroupingVector[] };
