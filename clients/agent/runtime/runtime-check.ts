/** Self-contained applications are not reported (contract 90, runtime check). */
import { statPath } from '../system/files.js';
import { readFile } from 'node:fs/promises';
import { toPrintable } from '../../../lib/text/printable.js';
import type { ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Agent } from '../update/installation.js';
import type { InstallationLayout } from '../layout.js';
import { getInstallCommand } from './install-command.js';
import { listInstalledRuntimes } from './installed-runtimes.js';
import { resolveFramework, type FrameworkReference } from './roll-forward.js';
import { parseRuntimeConfig } from './runtime-config.js';

const MAX_CONFIG_BYTES = 1024 * 1024;

export async function findMissingRuntimes(
  agent: Agent,
  layout: InstallationLayout,
  { files }: ReleaseManifest,
): Promise<string[]> {
  const wanted: FrameworkReference[] = [];
  for (const { path } of files) {
    if (!path.endsWith('.runtimeconfig.json')) continue;
    const references = await readReferences(layout.resolvePath(path), agent.env);
    if (references === null) agent.output.warn(`${path} cannot be read, so its runtime was not checked`);
    else wanted.push(...references);
  }
  if (wanted.length === 0) return [];
  const installed = await listInstalledRuntimes(agent.env);
  const toPrerelease = agent.env.DOTNET_ROLL_FORWARD_TO_PRERELEASE === '1';
  const sentences = new Set<string>();
  for (const reference of wanted) {
    const versions = installed.get(reference.name) ?? [];
    if (resolveFramework(reference, versions, toPrerelease) === null)
      sentences.add(await formatMissingRuntime(reference, versions));
  }
  return [...sentences];
}

async function readReferences(path: string, env: Agent['env']): Promise<FrameworkReference[] | null> {
  const stats = await statPath(path);
  if (stats === null || !stats.isFile() || stats.size > MAX_CONFIG_BYTES) return null;
  return parseRuntimeConfig(await readFile(path, 'utf8'), env);
}

async function formatMissingRuntime(reference: FrameworkReference, versions: readonly string[]): Promise<string> {
  const name = toPrintable(`${reference.name} ${reference.version}`, 100);
  const here = versions.length === 0 ? 'none is installed' : `installed: ${versions.join(', ')}`;
  return `the .NET runtime ${name} is missing (roll forward: ${reference.policy}; ${here}). Install it: ${toPrintable(await getInstallCommand(reference))}`;
}
