/**
 * An agent without a model: it takes what `next` hands out, goes to the place that the answer
 * names, mends the line there if it is one that it knows to be wrong, tries the module, and
 * resolves. It knows nothing but the answers and the files, so it succeeds only where an answer
 * leads to the line.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import type { McpSession, Tokens, ToolAnswer } from './mcp-session.js';
import { PLANTED, type PlantedBug } from './planted.js';
import { running } from './reports.js';

export interface Worked {
  ref: string;
  bug: string;
  fixed: boolean;
  calls: number;
  tokens: Tokens;
  agent: string;
  /** What it needed besides `next`: an answer that did not lead to the line. */
  asked: string[];
}

const FENCE = /<\/?untrusted-[0-9a-f]+>/g;
const plain = (value: unknown): string => (typeof value === 'string' ? value.replace(FENCE, '') : '');

/** `file:line` of the failure and its callers, in the order of the answer. */
export function placesIn({ data }: ToolAnswer): string[] {
  const crash = (data['crash'] ?? {}) as { file?: string; line?: number; callers?: string };
  const item = (data['item'] ?? {}) as { file_path?: string; line_no?: number };
  const callers = plain(crash.callers).match(/^\S+:\d+(?=$| )/gm) ?? [];
  return [`${plain(crash.file ?? item.file_path)}:${crash.line ?? item.line_no ?? 0}`, ...callers];
}

/** Mends the first place that holds a line which is known to be wrong. */
async function mended(folder: string, places: readonly string[]): Promise<PlantedBug | null> {
  for (const place of places) {
    const [, file = '', line = '0'] = /^(src\/\w+\.mjs):(\d+)$/.exec(place) ?? [];
    if (file === '') continue;
    const source = (await readFile(join(folder, file), 'utf8')).split('\n');
    const bug = PLANTED.find(({ wrong }) => wrong === source[Number(line) - 1]);
    if (bug === undefined) continue;
    source[Number(line) - 1] = bug.right;
    await writeFile(join(folder, file), source.join('\n'));
    return bug;
  }
  return null;
}

/**
 * Works off one item; null: there is no more. @param n another number each time, so that the module
 * is loaded again
 */
export async function workOne(session: McpSession, folder: string, agent: string, n: number): Promise<Worked | null> {
  const before = session.calls;
  const taken = await session.call('next', { project: 'shop', agent });
  if (taken.error !== null) throw new Error(taken.text);
  if (taken.data['item'] === null) return null;
  const { ref } = taken.data['item'] as { ref: string };
  const { claim_token } = taken.data['lease'] as { claim_token: string };
  const requested: string[] = [];
  let bug = await mended(folder, placesIn(taken));
  if (bug === null) {
    requested.push('get');
    bug = await mended(folder, placesIn(await session.call('get', { id: ref, occurrences: 3 })));
  }
  const works = bug !== null && isDeepStrictEqual(await running(folder, bug, n), bug.expected);
  const end = works
    ? await session.call('resolve', {
        id: ref,
        claim_token,
        resolved_in_build: '1.9.0',
        fix_commit: n.toString(16).padStart(40, '0'),
        comment: `src/${bug?.name}.mjs: ${bug?.right.trim()}`,
      })
    : await session.call('release', { id: ref, claim_token, reason: 'the place of the failure is not told' });
  const fixed = works && end.error === null;
  const calls = session.calls - before;
  return { ref, bug: bug?.name ?? '?', fixed, agent, calls, tokens: session.counted(), asked: requested };
}
