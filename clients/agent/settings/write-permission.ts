/**
 * Asks root for permission to write outside the installation (contract 90, setup.json), because the
 * package chooses the targets. Granted paths are stored, and `--yes` accepts exactly those.
 */
import { constants } from 'node:fs';
import { join } from 'node:path';
import { getErrorCode, AgentFailure } from '../exit.js';
import { ON_WINDOWS, useFile, writeFileAtomically } from '../system/files.js';
import { toPrintable } from '../../../lib/text/printable.js';
import { promptYesNo, isInteractive } from '../prompts.js';
import type { Installation } from '../update/installation.js';

const MAX_GRANTS_BYTES = 1024 * 1024;

/**
 * @param paths to write, absolute
 * @throws AgentFailure usage that lists them; nothing is written
 */
export async function requestWritePermission({ agent, layout }: Installation, paths: readonly string[]): Promise<void> {
  if (ON_WINDOWS || process.geteuid?.() !== 0) return;
  const outside = paths.filter((path) => !path.startsWith(`${layout.root}/`));
  if (outside.length === 0) return;
  const { options, output, signal } = agent;
  const grantsPath = join(layout.own, 'targets.json');
  const granted = await readGrantedPaths(grantsPath);
  const fresh = outside.filter((path) => !granted.includes(path));
  output.printNote('targets', { files: outside }, `settings go to ${outside.join(', ')}`);
  if (fresh.length === 0) return;
  if (!options.allowTargets) {
    const list = fresh.join(', ');
    if (!isInteractive(options))
      throw new AgentFailure(
        'usage',
        `setup.json requests to write ${list} as root; pass --allow-targets to allow it permanently`,
      );
    output.printPromptText(
      `setup.json requests to write as root:\n${fresh.map((path) => `  ${toPrintable(path, 500)}`).join('\n')}`,
    );
    if (!(await promptYesNo('May it?', false, '--allow-targets', signal)))
      throw new AgentFailure('cancelled', `${list}: not allowed; nothing was written`);
  }
  await writeFileAtomically(grantsPath, `${JSON.stringify([...granted, ...fresh], null, 2)}\n`);
}

async function readGrantedPaths(path: string): Promise<string[]> {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const text = await useFile(path, flags, async (file) => {
      const { size, uid } = await file.stat();
      return size > MAX_GRANTS_BYTES || uid !== 0 ? '[]' : file.readFile('utf8');
    });
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
}
