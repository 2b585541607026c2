/**
 * Checks that this machine has the .NET runtimes of a release (contract 90, runtime check).
 * Self-contained applications are not reported.
 */
import { look } from '../system/files.js';
import { readFile } from 'node:fs/promises';
import { printable } from '../../../lib/text/printable.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Agent } from '../update/installation.js';
import type { Layout } from '../layout.js';
import { installCommand } from './advice.js';
import { installedRuntimes } from './installed.js';
import { resolveFramework, type FrameworkReference } from './roll-forward.js';
import { readRuntimeConfig } from './runtime-config.js';

const MOST_BYTES = 1024 * 1024;

export async function missingRuntimes(agent: Agent, layout: Layout, { files }: ReleaseManifest): Promise<string[]> {
  const wanted: FrameworkReference[] = [];
  for (const { path } of files) {
    if (!path.endsWith('.runtimeconfig.json')) continue;
    const references = await referencesOf(layout.at(path), agent.env);
    if (references === null) agent.output.warning(`${path} cannot be read: whether its runtime is here is not known`);
    else wanted.push(...references);
  }
  if (wanted.length === 0) return [];
  const installed = await installedRuntimes(agent.env);
  const toPrerelease = agent.env.DOTNET_ROLL_FORWARD_TO_PRERELEASE === '1';
  const sentences = new Set<string>();
  for (const reference of wanted) {
    const versions = installed.get(reference.name) ?? [];
    if (resolveFramework(reference, versions, toPrerelease) === null)
      sentences.add(await sentence(reference, versions));
  }
  return [...sentences];
}

async function referencesOf(path: string, env: Agent['env']): Promise<FrameworkReference[] | null> {
  const stats = await look(path);
  if (stats === null || !stats.isFile() || stats.size > MOST_BYTES) return null;
  return readRuntimeConfig(await readFile(path, 'utf8'), env);
}

async function sentence(reference: FrameworkReference, versions: readonly string[]): Promise<string> {
  const name = printable(`${reference.name} ${reference.version}`, 100);
  const here = versions.length === 0 ? 'none is installed' : `installed: ${versions.join(', ')}`;
  return `the .NET runtime ${name} is missing (roll forward: ${reference.policy}; ${here}). Install it: ${printable(await installCommand(reference))}`;
}
