/** Detects a build's version, entry program and required runtime (contract 90, packager). */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageRuntime } from '../../lib/formats/manifest.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';
import { readPeVersion, toPlainVersion } from './pe-version.js';

export interface MainAssembly {
  version: string | null;
  source: string | null;
  entry: string | null;
  runtime: PackageRuntime | null;
}

/**
 * @param name null for the one of a `.runtimeconfig.json`, else package.json
 * @throws PackagerFailure when a named assembly is missing
 */
export async function readMainAssembly(dir: string, name: string | null): Promise<MainAssembly> {
  const names = await readdir(dir);
  if (name !== null && !names.includes(name))
    throw new PackagerFailure(EXIT_CODES.error, `The main assembly ${name} is not in ${dir}.`);
  const stem = name === null ? findOnlyApplication(names) : name.replace(/\.(dll|exe)$/i, '');
  const { version, source } = await findVersion(dir, stem, name, names);
  return {
    version,
    source,
    entry: stem === null ? null : ([`${stem}.exe`, stem].find((file) => names.includes(file)) ?? name),
    runtime: stem === null ? null : await readRuntime(join(dir, `${stem}.runtimeconfig.json`)),
  };
}

function findOnlyApplication(names: readonly string[]): string | null {
  const found = names.filter((name) => name.endsWith('.runtimeconfig.json'));
  return found.length === 1 ? (found[0]?.slice(0, -'.runtimeconfig.json'.length) ?? null) : null;
}

async function findVersion(
  dir: string,
  stem: string | null,
  name: string | null,
  names: readonly string[],
): Promise<{ version: string | null; source: string | null }> {
  if (stem !== null) {
    const source = `${stem}.deps.json`;
    const version = getDepsVersion(await readJson(join(dir, source)), stem);
    if (version !== null) return { version, source };
    for (const file of new Set([name, `${stem}.dll`, `${stem}.exe`])) {
      if (file === null || !names.includes(file)) continue;
      const stated = await readPeVersion(join(dir, file));
      if (stated !== null) return { version: stated, source: file };
    }
  }
  const stated = (await readJson(join(dir, 'package.json')))?.['version'];
  const version = typeof stated === 'string' ? toPlainVersion(stated) : null;
  return { version, source: version === null ? null : 'package.json' };
}

function getDepsVersion(deps: Record<string, unknown> | null, stem: string): string | null {
  const libraries = deps?.['libraries'];
  if (!isRecord(libraries)) return null;
  const key = Object.keys(libraries).find((key) => key.toLowerCase().startsWith(`${stem.toLowerCase()}/`));
  return key === undefined ? null : toPlainVersion(key.slice(stem.length + 1));
}

async function readRuntime(file: string): Promise<PackageRuntime | null> {
  const options = (await readJson(file))?.['runtimeOptions'];
  if (!isRecord(options)) return null;
  const frameworks = Array.isArray(options['frameworks']) ? (options['frameworks'] as unknown[]) : [];
  const framework = [options['framework'], ...frameworks].find(isRecord);
  const { name, version } = framework ?? {};
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : null;
}

/** @returns null when the file is missing or not a JSON object */
async function readJson(file: string): Promise<Record<string, unknown> | null> {
  const there = await access(file).then(
    () => true,
    () => false,
  );
  if (!there) return null;
  try {
    const value: unknown = JSON.parse((await readFile(file, 'utf8')).replace(/^\ufeff/, ''));
    return isRecord(value) ? value : null;
  } catch {
    throw new PackagerFailure(
      EXIT_CODES.error,
      `${file} is not valid JSON, so the version of the build cannot be read.`,
    );
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
