/**
 * An opened installation: validated, locked, and recovered from an earlier crash (contract 90,
 * update: lock → recover → …).
 */
import { mkdir, open, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { compareVersions } from '../../../lib/versions.js';
import { findOwnPath } from '../apply/own-file.js';
import { ParentValidator } from '../system/parent-validator.js';
import { prepareFolders, recoverTransaction, type RecoveryResult } from '../apply/recover.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import type { Hooks } from '../hooks.js';
import { InstallationLayout, OWN_FOLDER } from '../layout.js';
import { MAX_MANIFEST_BYTES, type ReleaseManifest } from '../../../lib/formats/manifest.js';
import type { Network } from '../net/network.js';
import type { CheckedOptions } from '../options/index.js';
import type { AgentOutput } from '../output.js';
import { parseManifest } from '../trust/release-verification.js';
import { acquireLock, type InstallationLock } from './lock.js';
import { createRecorder } from './log.js';
import type { ServiceControl } from './service.js';
import { readState, writeState, type TrustState } from '../trust/state.js';

export interface Agent {
  options: CheckedOptions;
  env: Readonly<Record<string, string | undefined>>;
  output: AgentOutput;
  hooks: Hooks;
  signal: AbortSignal;
  ownFile: string;
  control: ServiceControl;
  network: Network;
}

export class Installation {
  private constructor(
    readonly agent: Agent,
    readonly layout: InstallationLayout,
    readonly own: string | null,
    readonly recovered: RecoveryResult,
    readonly state: { current: TrustState },
    public manifest: ReleaseManifest | null,
    private readonly lock: InstallationLock,
  ) {}

  /** @param agent its `options.dir` exists */
  static async open(agent: Agent): Promise<Installation> {
    const layout = new InstallationLayout(await resolveRoot(agent.options.dir));
    await checkOwnFolders(layout);
    await mkdir(layout.own, { recursive: true, mode: 0o700 });
    const lock = await acquireLock(layout.lock);
    try {
      await prepareFolders(layout);
      agent.output.record = createRecorder(layout.log);
      const own = await findOwnPath(layout, agent.ownFile);
      const recovered = await recoverTransaction(layout, own, agent.hooks);
      const state = { current: await readState(layout.state) };
      const manifest = await readInstalledManifest(layout.manifest);
      const installation = new Installation(agent, layout, own, recovered, state, manifest, lock);
      if (manifest !== null) await installation.saveHighestVersion(manifest.version);
      return installation;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Validated again for each plan, because the tree may have changed. */
  readonly createParentValidator = (): Promise<ParentValidator> => ParentValidator.of(this.layout.root);

  async save(state: TrustState): Promise<void> {
    if (JSON.stringify(state) === JSON.stringify(this.state.current)) return;
    this.state.current = state;
    await writeState(this.layout.state, state);
  }

  /**
   * Stores the highest version ever. A crash between the commit and this call is harmless, because
   * every start considers the installed version.
   */
  async saveHighestVersion(version: string): Promise<void> {
    const highest = this.state.current.highest_version;
    if (highest !== null && compareVersions(version, highest) <= 0) return;
    await this.save({ ...this.state.current, highest_version: version });
  }

  /** Ends what `--action rollback` noted, once that version or a newer one is installed. */
  async forgetLeftVersion(version: string): Promise<void> {
    const { left_version: left, ...state } = this.state.current;
    if (left !== undefined && left !== null && compareVersions(version, left) >= 0) await this.save(state);
  }

  /** Call before a service starts: its `ExecStartPre` may be the agent itself. */
  async close(): Promise<void> {
    await this.lock.release();
  }
}

export async function resolveRoot(dir: string): Promise<string> {
  return realpath(dir).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') throw new AgentFailure('usage', `${dir} does not exist`, { cause: error });
    throw error;
  });
}

/**
 * The agent's own folders are validated like parents: a link there is exit 9 before anything is
 * written.
 */
async function checkOwnFolders(layout: InstallationLayout): Promise<void> {
  const parents = await ParentValidator.of(layout.root);
  for (const folder of ['', 'lock/', 'download/', 'staging/', 'backup/', 'previous/', 'log/']) {
    const path = `${OWN_FOLDER}/${folder}x`;
    if ((await parents.of(path)) === 'no directory')
      throw new AgentFailure(
        'spaceOrPermission',
        `${layout.resolvePath(path)} is below a path that is not a directory; nothing was changed`,
      );
  }
}

/**
 * Its paths follow the rules of the archive, so that nothing in the tree can lead the agent out of
 * it.
 */
async function readInstalledManifest(path: string): Promise<ReleaseManifest | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(
    (error: unknown) => {
      if (getErrorCode(error) === 'ENOENT') return null;
      if (getErrorCode(error) === 'ELOOP')
        throw new AgentFailure('spaceOrPermission', `${path} is a symbolic link; nothing was changed`, {
          cause: error,
        });
      throw error;
    },
  );
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_MANIFEST_BYTES)
      throw new AgentFailure('unverified', `${path} is not a valid manifest`);
    return parseManifest(await file.readFile());
  } finally {
    await file.close();
  }
}
