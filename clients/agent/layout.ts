/** Paths within an installation (contract 90, layout). One file system, 0700. */
import { join } from 'node:path';

export const OWN_FOLDER = '.update-agent';
export const MANIFEST = 'manifest.json';

export class Layout {
  constructor(readonly root: string) {}

  at(path: string): string {
    return join(this.root, ...path.split('/'));
  }

  #own(...names: string[]): string {
    return join(this.root, OWN_FOLDER, ...names);
  }

  get manifest(): string {
    return join(this.root, MANIFEST);
  }
  get own(): string {
    return this.#own();
  }
  get lock(): string {
    return this.#own('lock');
  }
  get state(): string {
    return this.#own('state.json');
  }
  get download(): string {
    return this.#own('download');
  }
  get log(): string {
    return this.#own('log');
  }
  get journal(): string {
    return this.#own('journal.jsonl');
  }
  /** 1 MiB that a rollback frees first, so that a full disk does not stop it. */
  get reserve(): string {
    return this.#own('reserve');
  }
  /** Copy of the running agent, for recovery while the installed one is being replaced. */
  get agent(): string {
    return this.#own(process.platform === 'win32' ? 'agent.exe' : 'agent');
  }
  get stagings(): string {
    return this.#own('staging');
  }
  get backups(): string {
    return this.#own('backup');
  }

  /**
   * Folder of one transaction: its new files below `files/`, and `manifest.json`, whose
   * disappearance is the commit.
   */
  staging(tx: string): string {
    return join(this.stagings, tx);
  }
  stagedManifest(tx: string): string {
    return join(this.staging(tx), MANIFEST);
  }
  stagedFiles(tx: string): string {
    return join(this.staging(tx), 'files');
  }
  staged(tx: string, path: string): string {
    return join(this.stagedFiles(tx), ...path.split('/'));
  }
  backup(tx: string): string {
    return join(this.backups, tx);
  }
  backedUp(tx: string, path: string): string {
    return join(this.backup(tx), ...path.split('/'));
  }
}
