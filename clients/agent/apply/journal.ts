/**
 * Recovery relies on backup and staging (contract 90, journal); the steps are informative. The head
 * is renamed into place, so every journal has one; a torn last line is ignored.
 */
import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isVersion } from '../../../lib/versions.js';
import { findPathFault } from '../../../lib/formats/path-policy.js';
import { getErrorCode } from '../exit.js';
import { syncDirectory } from '../system/files.js';
import type { InstallationLayout } from '../layout.js';

export type OldKind = 'file' | 'link' | 'other';

export interface OldEntry {
  kind: OldKind;
  sha256: string | null;
  mode: string;
  uid: number;
  gid: number;
}

export interface FileStep {
  path: string;
  /** Its name on disk, when a case-insensitive file system has another spelling. */
  found?: string;
  old: OldEntry | null;
  /** Null when the file is removed, because only the previous manifest lists it. */
  new: { sha256: string; mode: string } | null;
  keptAs?: string;
}

export interface DirectoryStep {
  path: string;
  mode: string;
  uid: number;
  gid: number;
}

export interface ApplyPlan {
  removals: FileStep[];
  /** Directories to remove after them, deepest first. */
  emptied: DirectoryStep[];
  directories: string[];
  files: FileStep[];
}

export interface JournalHead {
  schema: 1;
  tx: string;
  product: string;
  platform: string;
  from: string | null;
  to: string;
  manifest_sha256: string;
  /** Old files are hard-linked into the backup; otherwise they are renamed. */
  links: boolean;
  started_at: string;
  /** Number of earlier versions to keep; absent: the backup is removed. */
  keep?: number;
  /** The kept version that a rollback restores: removed at the end. */
  restores?: string;
  plan: ApplyPlan;
}

export class Journal {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(layout: InstallationLayout, head: JournalHead): Promise<Journal> {
    const temporary = `${layout.journal}.new`;
    await rm(temporary, { force: true });
    const file = await open(temporary, 'ax', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(head)}\n`);
      await file.sync();
      await rename(temporary, layout.journal);
      await syncDirectory(dirname(layout.journal));
    } catch (error) {
      await file.close();
      throw error;
    }
    return new Journal(file);
  }

  /** Informative only; the step does not wait for the disk. */
  async recordStep(what: string, path: string): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify({ step: what, path })}\n`);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** `none` without a journal, `unreadable` when the head is truncated or invalid. */
export async function readHead(layout: InstallationLayout): Promise<JournalHead | 'none' | 'unreadable'> {
  let text: string;
  try {
    text = await readFile(layout.journal, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return 'none';
    throw error;
  }
  const end = text.indexOf('\n');
  if (end < 0) return 'unreadable';
  try {
    const head = JSON.parse(text.slice(0, end)) as JournalHead;
    return isJournalHead(head) ? head : 'unreadable';
  } catch {
    return 'unreadable'; // Not written by the agent: the caller decides by whether a backup exists.
  }
}

const TRANSACTION_ID_PATTERN = /^[0-9a-f-]{8,64}$/;
const SHA256_PATTERN = /^[0-9a-f]{64}$/;
const MODE_PATTERN = /^[0-7]{4}$/;

function isJournalHead(head: JournalHead): boolean {
  const { schema, tx, platform, from, to, manifest_sha256, links, keep = 0, restores, plan } = head;
  const { removals, emptied, directories, files } = plan;
  const allowed = (path: unknown): boolean => typeof path === 'string' && findPathFault(path, platform) === null;
  return (
    schema === 1 &&
    TRANSACTION_ID_PATTERN.test(tx) &&
    (from === null || isVersion(from)) &&
    isVersion(to) &&
    SHA256_PATTERN.test(manifest_sha256) &&
    typeof links === 'boolean' &&
    Number.isInteger(keep) &&
    (restores === undefined || SHA256_PATTERN.test(restores)) &&
    [...removals, ...files].every(
      (step) =>
        allowed(step.path) &&
        [step.found, step.keptAs].every((other) => other === undefined || allowed(other)) &&
        isOldEntry(step.old),
    ) &&
    emptied.every(({ path, mode }) => allowed(path) && MODE_PATTERN.test(mode)) &&
    directories.every(allowed)
  );
}

const isOldEntry = (old: OldEntry | null): boolean =>
  old === null || (['file', 'link', 'other'].includes(old.kind) && MODE_PATTERN.test(old.mode));
