/**
 * `--action rollback` (contract 97, rollback): returns to the version before the last update, from
 * the kept backup and without a network. It restores what the update changed, by the journal of an
 * update, so a crash leaves one whole version.
 */
import { createPreservedMatcher, type CarriedSettings } from '../apply/plan.js';
import { loadPreviousVersion, type PreviousVersion } from '../apply/previous-version.js';
import type { FileCopy } from '../apply/staging.js';
import { AgentFailure } from '../exit.js';
import { hashFile, statPath } from '../system/files.js';
import type { Agent, Installation } from '../update/installation.js';
import { installVerified } from '../update/verified-install.js';
import type { ApplicationRestart } from '../update/restart.js';
import { runWithRestart, stopApplication } from './update.js';

export const rollBackInstallation = (agent: Agent): Promise<void> => runWithRestart(agent, restorePrevious);

async function restorePrevious(installation: Installation, restart: ApplicationRestart): Promise<void> {
  const { agent, layout, manifest: installed } = installation;
  const previous = await loadPreviousVersion(layout);
  const { copies, carried, missing } = await collectFiles(installation, previous);
  for (const path of missing) agent.output.warn(`${path} was removed from the installation and will not be restored`);
  // A later update does not return to this version by itself.
  await installation.save({ ...installation.state.current, left_version: installed?.version ?? null });
  await installVerified(installation, {
    release: { manifest: previous.manifest, bytes: previous.bytes },
    files: { copies },
    restores: { name: previous.name, missing },
    beforePlan: () => stopApplication(agent, restart),
    carryOver: async () => carried,
  });
  agent.output.reportRolledBack(previous.manifest.version, installed?.version ?? '');
}

interface RestoredFiles {
  copies: Map<string, FileCopy>;
  carried: CarriedSettings;
  /** Files of both versions that somebody removed. */
  missing: Set<string>;
}

/**
 * Files in the backup are restored as they were, with this machine's values; all others stay.
 * @throws AgentFailure exit 5 when the update changed a file that the backup does not have
 */
async function collectFiles(
  { agent, layout, manifest: installed }: Installation,
  { manifest, name }: PreviousVersion,
): Promise<RestoredFiles> {
  const result: RestoredFiles = {
    copies: new Map(),
    carried: { untouched: new Set(), merged: new Map() },
    missing: new Set(),
  };
  const shipped = new Map(installed?.files.map(({ path, sha256 }) => [path, sha256]));
  const isPreserved = createPreservedMatcher(manifest);
  for (const { path, sha256 } of manifest.files) {
    agent.signal.throwIfAborted();
    const from = layout.getPreviousFile(name, path);
    const stats = await statPath(from);
    if (stats?.isFile() === true) {
      const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
      const hash = await hashFile(from, agent.signal);
      result.copies.set(path, { from, size: stats.size, mode, sha256: hash });
      result.carried.merged.set(path, { sha256: hash, mode });
      continue;
    }
    result.carried.untouched.add(path);
    const there = await statPath(layout.resolvePath(path));
    if (isPreserved(path)) {
      if (there === null) result.missing.add(path);
      continue;
    }
    if (shipped.get(path) === sha256) {
      if (there === null) result.missing.add(path);
    } else if (there?.isFile() !== true || (await hashFile(layout.resolvePath(path), agent.signal)) !== sha256)
      throw new AgentFailure(
        'rollbackIncomplete',
        `the backup of ${manifest.version} lacks ${path}; nothing was changed`,
      );
  }
  return result;
}
