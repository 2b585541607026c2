/**
 * Carries values that `setup.json` wrote into packaged files over to the new version (contract 90,
 * amendments). Works on the staged copies, before anything is replaced.
 */
import { chown, readFile, writeFile } from 'node:fs/promises';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { setMode } from '../apply/apply.js';
import { isPreservedBy, type Carried } from '../apply/plan.js';
import { AgentFailure } from '../exit.js';
import { hashOf, look, ON_WINDOWS, syncFile } from '../system/files.js';
import type { Installation } from '../update/installation.js';
import { readDescription, type Target } from './description.js';
import { FormatError } from './formats/format.js';
import { FORMATS } from './formats/index.js';
import { pathOf } from './places.js';
import { decoded } from './text-file.js';
import { isPlaceholder } from './types.js';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Merges the values of both versions' `setup.json` targets into the staged files. A target whose
 * packaged file did not change stays as it is on disk.
 * @param tx the transaction with the staged files
 */
export async function carrySettingsOver(
  { agent, layout, manifest: previous, parents }: Installation,
  next: ReleaseManifest,
  tx: string,
): Promise<Carried> {
  const carried: Carried = { untouched: new Set(), merged: new Map() };
  if (previous === null) return carried;
  const checked = await parents();
  const warn = (path: string, why: string): void => agent.output.warning(`${path}: settings were not merged: ${why}`);
  for (const [path, targets] of targetsByPath([next, previous], agent.env, warn)) {
    const shipped = next.files.find((file) => file.path === path);
    if (shipped === undefined || isPreservedBy(next)(path) || isPreservedBy(previous)(path)) continue;
    if ((await checked.of(path)) !== 'directory') continue;
    const stats = await look(layout.at(path));
    if (stats === null || !stats.isFile() || stats.size > MAX_FILE_BYTES || shipped.size > MAX_FILE_BYTES) continue;
    const installed = previous.files.find((file) => file.path === path)?.sha256;
    if ((await hashOf(layout.at(path), agent.signal)) === installed) continue;
    if (installed === shipped.sha256) {
      carried.untouched.add(path);
      continue;
    }
    const staged = layout.staged(tx, path);
    try {
      const [before, after] = [await readText(layout.at(path)), await readText(staged)];
      await writeFile(staged, after.mark + mergeValues(before.text, after.text, targets));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      warn(path, error.message);
      continue;
    }
    await setMode(staged, stats.mode & 0o7777);
    if (!ON_WINDOWS && process.geteuid?.() === 0) await chown(staged, stats.uid, stats.gid);
    await syncFile(staged);
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    carried.merged.set(path, { sha256: await hashOf(staged, agent.signal), mode });
  }
  return carried;
}

function targetsByPath(
  manifests: readonly ReleaseManifest[],
  env: Parameters<typeof pathOf>[1],
  warn: (path: string, why: string) => void,
): Map<string, Target[]> {
  const found = new Map<string, Target[]>();
  for (const { setup, version } of manifests) {
    if (setup === null) continue;
    try {
      for (const target of readDescription(setup).settings.flatMap(({ targets }) => targets)) {
        if (target.location !== 'install') continue;
        const path = pathOf(target, env);
        found.set(path, [...(found.get(path) ?? []), target]);
      }
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      warn(`setup.json of ${version}`, error.message);
    }
  }
  return found;
}

function mergeValues(before: string, after: string, targets: readonly Target[]): string {
  let text = after;
  for (const { format, key } of targets) {
    const value = FORMATS[format].read(before, key);
    if (value !== null && !isPlaceholder(value) && FORMATS[format].read(text, key) !== value)
      text = FORMATS[format].write(text, key, value);
  }
  return text;
}

async function readText(path: string): Promise<{ mark: string; text: string }> {
  const content = decoded(await readFile(path));
  if (content === null) throw new FormatError('it is not UTF-8');
  return content;
}
