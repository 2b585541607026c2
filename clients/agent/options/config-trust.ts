/**
 * Decides which configuration files the agent trusts (contract 90, whom it believes): those of root
 * or the current user, in a named directory. As root in another user's tree, security-relevant
 * options come only from the command line, the environment and root's own file; others are reported
 * as warnings.
 */
import { constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { toPrintable } from '../../../lib/text/printable.js';
import { checkAncestors } from '../system/parent-validator.js';
import { AgentFailure } from '../exit.js';
import { statPath, ON_WINDOWS, useFile } from '../system/files.js';
import { InstallationLayout } from '../layout.js';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { readConfig, type ConfigFile } from './config-file.js';
import { RESTRICTED_OPTIONS, SLUG_PATTERN, type OptionName } from './table.js';
import { toOptionValues, type OptionValues } from './values.js';

export interface TrustedConfig {
  values: OptionValues;
  warnings: string[];
}

export interface TrustSources {
  config: string | null;
  dir: string;
  /** The directory was named, or is the agent's own; the current directory is not trusted. */
  named: boolean;
  given: OptionValues;
}

export const SYSTEM_CONFIG_FOLDER = '/etc/update-agent';

export async function loadTrustedConfig({ config, dir, named, given }: TrustSources): Promise<TrustedConfig> {
  const path = config === null ? join(dir, '.update-agent', 'agent.json') : resolve(config);
  const foreign = await getForeignOwner(dir);
  if (config === null && !named) {
    const there = (await statPath(path).catch(() => null)) !== null;
    return { values: {}, warnings: there ? [`${path} is ignored; pass its directory with --dir`] : [] };
  }
  if (config === null && (await statPath(dirname(path)))?.isSymbolicLink())
    throw new AgentFailure('spaceOrPermission', `${dirname(path)} is a symbolic link; nothing was changed`);
  const file = await readConfig(path, config !== null);
  const roots = foreign === null ? NO_CONFIG : await loadSystemConfig(dir, toText(given.project));
  if (file === null) return roots;
  const warnings = [...roots.warnings];
  const holdsKey = Object.keys(file.values).some((name) => name.replaceAll('_', '-') === 'license-key');
  if (file.open && holdsKey)
    warnings.push(`${path} contains a license key and is readable by others; run: chmod 600 ${path}`);
  const trust = await getTrustLevel(file, foreign, config !== null);
  if (trust === 'none') {
    warnings.push(`${path} belongs to another user (${file.uid}) and is ignored`);
    return { values: roots.values, warnings };
  }
  if (trust === 'all') return { values: { ...roots.values, ...toOptionValues(file) }, warnings };
  const { allowed, rest } = removeAllowOptions(file);
  const fileOptions = toOptionValues(rest);
  const counting = Object.fromEntries(Object.entries(fileOptions).filter(([name]) => !isRestricted(name)));
  const known: OptionValues = { ...roots.values, ...given };
  const otherwise = Object.entries(fileOptions).filter(
    ([name, value]) => isRestricted(name) && value !== false && String(known[name as OptionName]) !== String(value),
  );
  const names = [...otherwise.map(([name]) => name), ...allowed];
  if (names.length > 0)
    warnings.push(
      `${path} is below a directory of another user (${foreign}): its ${names.join(', ')} are ignored for root; pass them as options, or set them in ${SYSTEM_CONFIG_FOLDER}/<project>.json`,
    );
  return { values: { ...counting, ...roots.values }, warnings };
}

/**
 * Removes `allow-…` options of the owner's file: they lift root's protection, so they are reported
 * and never applied.
 */
function removeAllowOptions(file: ConfigFile): { allowed: string[]; rest: ConfigFile } {
  const isLeave = (name: string): boolean => /^allow[-_]/.test(name);
  const entries = Object.entries(file.values);
  const names = entries.filter(([name, value]) => isLeave(name) && value !== false).map(([name]) => name);
  const values = Object.fromEntries(entries.filter(([name]) => !isLeave(name)));
  return { allowed: names.map((name) => toPrintable(name.replaceAll('_', '-'), 40)), rest: { ...file, values } };
}

const NO_CONFIG: TrustedConfig = { values: {}, warnings: [] };
const isRestricted = (name: string): boolean => RESTRICTED_OPTIONS.has(name as OptionName);
const toText = (value: OptionValues[OptionName]): string | null => (typeof value === 'string' ? value : null);

/** As root, returns the user who owns the tree; null when root owns it or it does not exist. */
export async function getForeignOwner(dir: string): Promise<number | null> {
  if (ON_WINDOWS || process.geteuid?.() !== 0) return null;
  const stats = await statPath(dir);
  return stats === null || stats.uid === 0 ? null : stats.uid;
}

/**
 * @param named by `--config`: root's own file counts anywhere except where another user could
 *   create it
 */
async function getTrustLevel(
  file: ConfigFile,
  foreign: number | null,
  named: boolean,
): Promise<'all' | 'harmless' | 'none'> {
  if (ON_WINDOWS) return 'all';
  if (foreign === null) return file.uid === 0 || file.uid === process.geteuid?.() ? 'all' : 'none';
  if (named && file.uid === 0 && (await isRootOnlyPath(file.path))) return 'all';
  return file.uid === 0 || file.uid === foreign ? 'harmless' : 'none';
}

const isRootOnlyPath = (path: string): Promise<boolean> =>
  checkAncestors(path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AgentFailure) return false;
      throw error;
    },
  );

/**
 * If only the tree names the project, the file must name the directory it is for; otherwise it is a
 * warning.
 */
async function loadSystemConfig(dir: string, requestedProject: string | null): Promise<TrustedConfig> {
  const project = requestedProject ?? (await readInstalledProject(dir));
  if (project === null || !SLUG_PATTERN.test(project)) return NO_CONFIG;
  const path = join(SYSTEM_CONFIG_FOLDER, `${project}.json`);
  if ((await statPath(path)) === null) return NO_CONFIG;
  if (!(await isRootOnlyPath(path)))
    throw new AgentFailure('usage', `${SYSTEM_CONFIG_FOLDER} is writable by users other than root`);
  const file = await readConfig(path, false);
  if (file === null) return NO_CONFIG;
  if (file.uid !== 0 || file.open)
    throw new AgentFailure('usage', `${path} must be accessible by root only; run chown root and chmod 600 on it`);
  const values = toOptionValues(file);
  const itsDir = toText(values.dir);
  if (itsDir !== null && resolve(itsDir) !== dir)
    return { values: {}, warnings: [`${path} is for ${itsDir} and is ignored for ${dir}`] };
  const open = requestedProject === null && itsDir === null;
  const warnings = open
    ? [`${path} has no dir, so the owner of any directory can claim that it belongs to ${project}; add "dir": "${dir}"`]
    : [];
  return { values: { project, ...values }, warnings };
}

export const readInstalledProject = async (dir: string): Promise<string | null> =>
  (await readInstalledRelease(dir))?.product ?? null;

export async function readInstalledRelease(
  dir: string,
): Promise<{ product: string; channel?: string; platform?: string } | null> {
  const { manifest } = new InstallationLayout(dir);
  const stats = await statPath(manifest);
  if (stats === null || !stats.isFile() || stats.size > MAX_MANIFEST_BYTES) return null;
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const text = await useFile(manifest, flags, (file) => file.readFile('utf8'));
    const { product, channel, platform } = JSON.parse(text) as Record<string, unknown>;
    if (typeof product !== 'string') return null;
    return {
      product,
      ...(typeof channel === 'string' && { channel }),
      ...(typeof platform === 'string' && { platform }),
    };
  } catch {
    return null;
  }
}
