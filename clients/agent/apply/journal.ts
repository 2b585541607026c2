/**
 * `journal.jsonl` of one transaction: the head holds the whole plan, then one line per step (contract 90, journal).
 * Recovery goes by the backup and the staging, not by the steps: they tell a person how far it came. The head is
 * written beside, made durable, and renamed, so a journal that is there at all has one; a torn last line is ignored.
 */
import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isVersion } from '../../../lib/versions.js';
import { findPathFault } from '../../../lib/formats/path-policy.js';
import { codeOf } from '../exit.js';
import { syncDirectory } from '../system/files.js';
import type { Layout } from '../layout.js';

export type OldKind = 'file' | 'link' | 'other';

/** What lies at a path before the update. */
export interface OldEntry {
  kind: OldKind;
  /** Null for what is no file. */
  sha256: string | null;
  /** Permission bits, octal: `0755`. */
  mode: string;
  uid: number;
  gid: number;
}

export interface FileStep {
  path: string;
  /** Its name on the disk, where a file system that folds case has another spelling. */
  found?: string;
  /** Null: nothing is there. */
  old: OldEntry | null;
  /** Null: the file goes, because only the previous manifest lists it. */
  new: { sha256: string; mode: string } | null;
  /** Where the old file is kept after the commit, because it is not the installed version's: `app.ini.local`. */
  keptAs?: string;
}

export interface DirectoryStep {
  path: string;
  mode: string;
  uid: number;
  gid: number;
}

export interface ApplyPlan {
  /** Files that go, deepest first. */
  removals: FileStep[];
  /** Directories that go after them, deepest first. */
  emptied: DirectoryStep[];
  /** Directories that are made, parents first. */
  directories: string[];
  /** Files that are replaced or made, the agent's own last. */
  files: FileStep[];
}

export interface Head {
  schema: 1;
  tx: string;
  product: string;
  platform: string;
  /** Null: nothing was installed. */
  from: string | null;
  to: string;
  /** Of the new `manifest.json`. */
  manifest_sha256: string;
  /** Old files are linked into the backup; else they are renamed. */
  links: boolean;
  started_at: string;
  plan: ApplyPlan;
}

export class Journal {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Durable when it returns. */
  static async begin(layout: Layout, head: Head): Promise<Journal> {
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

  /** For the reader; the step itself does not wait for the disk. */
  async step(what: string, path: string): Promise<void> {
    await this.#file.appendFile(`${JSON.stringify({ step: what, path })}\n`);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** `none`: no journal. `unreadable`: one whose head is cut off or says what the agent would not write. */
export async function readHead(layout: Layout): Promise<Head | 'none' | 'unreadable'> {
  let text: string;
  try {
    text = await readFile(layout.journal, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'none';
    throw error;
  }
  const end = text.indexOf('\n');
  if (end < 0) return 'unreadable';
  try {
    const head = JSON.parse(text.slice(0, end)) as Head;
    return isHead(head) ? head : 'unreadable';
  } catch {
    return 'unreadable'; // Not the agent's: the caller decides by whether a backup lies there.
  }
}

const TX = /^[0-9a-f-]{8,64}$/;
const HEX = /^[0-9a-f]{64}$/;
const MODE = /^[0-7]{4}$/;

function isHead(head: Head): boolean {
  const { schema, tx, platform, from, to, manifest_sha256, links, plan } = head;
  const { removals, emptied, directories, files } = plan;
  const allowed = (path: unknown): boolean => typeof path === 'string' && findPathFault(path, platform) === null;
  return (
    schema === 1 &&
    TX.test(tx) &&
    (from === null || isVersion(from)) &&
    isVersion(to) &&
    HEX.test(manifest_sha256) &&
    typeof links === 'boolean' &&
    [...removals, ...files].every(
      (step) =>
        allowed(step.path) &&
        [step.found, step.keptAs].every((other) => other === undefined || allowed(other)) &&
        isOld(step.old),
    ) &&
    emptied.every(({ path, mode }) => allowed(path) && MODE.test(mode)) &&
    directories.every(allowed)
  );
}

const isOld = (old: OldEntry | null): boolean =>
  old === null || (['file', 'link', 'other'].includes(old.kind) && MODE.test(old.mode));
