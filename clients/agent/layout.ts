/** Paths within an installation (contract 90, layout). */
import { join } from 'node:path';

export const OWN_FOLDER = '.update-agent';
export const MANIFEST_FILE = 'manifest.json';

export class InstallationLayout {
  constructor(readonly root: string) {}

  resolvePath(path: string): string {
    return join(this.root, ...path.split('/'));
  }

  #resolveOwn(...names: string[]): string {
    return join(this.root, OWN_FOLDER, ...names);
  }

  get manifest(): string {
    return join(this.root, MANIFEST_FILE);
  }
  get own(): string {
    return this.#resolveOwn();
  }
  get lock(): string {
    return this.#resolveOwn('lock');
  }
  get state(): string {
    return this.#resolveOwn('state.json');
  }
  get download(): string {
    return this.#resolveOwn('download');
  }
  get log(): string {
    return this.#resolveOwn('log');
  }
  get journal(): string {
    return this.#resolveOwn('journal.jsonl');
  }
  /** 1 MiB that a rollback frees first, so that a full disk does not stop it. */
  get reserve(): string {
    return this.#resolveOwn('reserve');
  }
  /** For recovery while the installed agent is being replaced. */
  get agent(): string {
    return this.#resolveOwn(process.platform === 'win32' ? 'agent.exe' : 'agent');
  }
  get stagings(): string {
    return this.#resolveOwn('staging');
  }
  get backups(): string {
    return this.#resolveOwn('backup');
  }
  /** Backups of finished updates, for `--action rollback`. */
  get previous(): string {
    return this.#resolveOwn('previous');
  }

  /**
   * Folder of one transaction: its new files below `files/`, and `manifest.json`, whose
   * disappearance is the commit.
   */
  getStagingFolder(tx: string): string {
    return join(this.stagings, tx);
  }
  getStagedManifest(tx: string): string {
    return join(this.getStagingFolder(tx), MANIFEST_FILE);
  }
  /** A copy on its way to its place next to the new file. */
  getStagedUserFile(tx: string): string {
    return join(this.getStagingFolder(tx), 'user-file');
  }
  getStagedFilesFolder(tx: string): string {
    return join(this.getStagingFolder(tx), 'files');
  }
  getStagedFile(tx: string, path: string): string {
    return join(this.getStagedFilesFolder(tx), ...path.split('/'));
  }
  getBackupFolder(tx: string): string {
    return join(this.backups, tx);
  }
  /** The manifest of the version before; no package has a file of this path. */
  getBackupManifest(tx: string): string {
    return join(this.getBackupFolder(tx), MANIFEST_FILE);
  }
  /** @param name SHA-256 of the manifest that the update installed */
  getPreviousFolder(name: string): string {
    return join(this.previous, name);
  }
  getPreviousFile(name: string, path: string): string {
    return join(this.getPreviousFolder(name), ...path.split('/'));
  }
  getBackupFile(tx: string, path: string): string {
    return join(this.getBackupFolder(tx), ...path.split('/'));
  }
}
