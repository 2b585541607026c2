/**
 * A link, a reparse point, another device or a directory writable by others is exit 9 (contract 90,
 * where it writes): otherwise another user could redirect the agent's renames.
 */
import type { Stats } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AgentFailure, getErrorCode } from '../exit.js';
import { statPath, ON_WINDOWS } from './files.js';

const OTHERS_WRITE_MASK = 0o002;
const GROUP_WRITE_MASK = 0o020;
const STICKY_BIT = 0o1000;

export type ParentKind = 'directory' | 'missing' | 'no directory';

const createUnsafeFailure = (path: string, why: string): AgentFailure =>
  new AgentFailure('spaceOrPermission', `${path} ${why}; nothing was changed`);

function getWritableReason(stats: Stats): string | null {
  if (ON_WINDOWS) return null;
  const [user, group] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  if (stats.uid !== user && stats.uid !== 0) return `belongs to another user (${stats.uid})`;
  if ((stats.mode & OTHERS_WRITE_MASK) !== 0) return 'is writable by others (chmod o-w)';
  if ((stats.mode & GROUP_WRITE_MASK) !== 0 && stats.gid !== group) return 'is writable by its group (chmod g-w)';
  return null;
}

export class ParentValidator {
  readonly #known = new Map<string, ParentKind>();

  private constructor(
    private readonly root: string,
    private readonly device: number,
  ) {}

  /**
   * @param root absolute, without links. Its parents are validated too, as far as others could
   *   replace the root there.
   */
  static async of(root: string): Promise<ParentValidator> {
    const stats = await statPath(root);
    if (stats === null || !stats.isDirectory()) throw createUnsafeFailure(root, 'is not a directory');
    const why = getWritableReason(stats);
    if (why !== null) throw createUnsafeFailure(root, why);
    if (!(await checkWritable(root))) throw createUnsafeFailure(root, 'is not a directory');
    await checkAncestors(root);
    return new ParentValidator(root, stats.dev);
  }

  async of(path: string): Promise<ParentKind> {
    const names = path.split('/').slice(0, -1);
    let kind: ParentKind = 'directory';
    for (let i = 1; i <= names.length && kind === 'directory'; i++)
      kind = await this.#checkKind(names.slice(0, i).join('/'));
    return kind;
  }

  async #checkKind(path: string): Promise<ParentKind> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const kind = await this.#readKind(path);
    this.#known.set(path, kind);
    return kind;
  }

  async #readKind(path: string): Promise<ParentKind> {
    const at = join(this.root, ...path.split('/'));
    const stats = await statPath(at);
    if (stats === null) return 'missing';
    if (stats.isSymbolicLink()) throw createUnsafeFailure(at, 'is a link');
    if (!stats.isDirectory()) return 'no directory';
    if (stats.dev !== this.device) throw createUnsafeFailure(at, 'is on another device');
    const why = getWritableReason(stats);
    if (why !== null) throw createUnsafeFailure(at, why);
    // Another agent, which holds the lock, may have removed its folder since `stat`.
    return (await checkWritable(at)) ? 'directory' : 'missing';
  }
}

/** @returns false when the path does not exist */
async function checkWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw new AgentFailure('spaceOrPermission', `${path} is not writable; nothing was changed`, { cause: error });
  }
}

export async function checkAncestors(path: string): Promise<void> {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) await checkAncestor(at);
}

/**
 * In a sticky directory only the owner can move an entry; root trusts no other user's directory
 * above it.
 */
async function checkAncestor(path: string): Promise<void> {
  const stats = await statPath(path);
  if (ON_WINDOWS || stats === null) return;
  if ((stats.mode & OTHERS_WRITE_MASK) !== 0 && (stats.mode & STICKY_BIT) === 0)
    throw createUnsafeFailure(path, 'is writable by others (chmod o-w)');
  if (process.geteuid?.() === 0 && stats.uid !== 0)
    throw createUnsafeFailure(path, `belongs to another user (${stats.uid})`);
}
