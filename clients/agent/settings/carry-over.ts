/** Works on the staged copies, before anything is replaced (contract 90, amendments). */
import { chown, readFile, writeFile } from 'node:fs/promises';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import { setMode } from '../apply/apply.js';
import { createPreservedMatcher, type CarriedSettings } from '../apply/plan.js';
import { AgentFailure } from '../exit.js';
import { hashFile, statPath, ON_WINDOWS, syncFile } from '../system/files.js';
import type { Installation } from '../update/installation.js';
import { parseDescription, type Target } from './description.js';
import { FormatError } from './formats/format.js';
import { SETTINGS_FORMATS } from './formats/index.js';
import { resolveTargetPath } from './locations.js';
import { decodeText } from './text-file.js';
import { isPlaceholder } from './types.js';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** A target whose packaged file did not change stays as it is on disk. */
export async function carrySettingsOver(
  { agent, layout, manifest: previous, createParentValidator: parents }: Installation,
  next: ReleaseManifest,
  tx: string,
): Promise<CarriedSettings> {
  const carried: CarriedSettings = { untouched: new Set(), merged: new Map() };
  if (previous === null) return carried;
  const checked = await parents();
  const warn = (path: string, why: string): void => agent.output.warn(`${path}: settings were not merged: ${why}`);
  for (const [path, targets] of groupTargetsByPath([next, previous], agent.env, warn)) {
    const shipped = next.files.find((file) => file.path === path);
    if (shipped === undefined || createPreservedMatcher(next)(path) || createPreservedMatcher(previous)(path)) continue;
    if ((await checked.of(path)) !== 'directory') continue;
    const stats = await statPath(layout.resolvePath(path));
    if (stats === null || !stats.isFile() || stats.size > MAX_FILE_BYTES || shipped.size > MAX_FILE_BYTES) continue;
    const installed = previous.files.find((file) => file.path === path)?.sha256;
    if ((await hashFile(layout.resolvePath(path), agent.signal)) === installed) continue;
    if (installed === shipped.sha256) {
      carried.untouched.add(path);
      continue;
    }
    const staged = layout.getStagedFile(tx, path);
    try {
      const [before, after] = [await readText(layout.resolvePath(path)), await readText(staged)];
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
    carried.merged.set(path, { sha256: await hashFile(staged, agent.signal), mode });
  }
  return carried;
}

function groupTargetsByPath(
  manifests: readonly ReleaseManifest[],
  env: Parameters<typeof resolveTargetPath>[1],
  warn: (path: string, why: string) => void,
): Map<string, Target[]> {
  const found = new Map<string, Target[]>();
  for (const { setup, version } of manifests) {
    if (setup === null) continue;
    try {
      for (const target of parseDescription(setup).settings.flatMap(({ targets }) => targets)) {
        if (target.location !== 'install') continue;
        const path = resolveTargetPath(target, env);
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
    const value = SETTINGS_FORMATS[format].read(before, key);
    if (value !== null && !isPlaceholder(value) && SETTINGS_FORMATS[format].read(text, key) !== value)
      text = SETTINGS_FORMATS[format].write(text, key, value);
  }
  return text;
}

async function readText(path: string): Promise<{ mark: string; text: string }> {
  const content = decodeText(await readFile(path));
  if (content === null) throw new FormatError('it is not UTF-8');
  return content;
}
