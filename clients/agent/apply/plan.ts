/**
 * Plans an update before anything changes (contract 90, update: preserved files, orphans;
 * "Journal": the order of removals). Planning only reads, so obstacles are detected before the
 * first rename.
 */
import type { Stats } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path/posix';
import { createGlobMatcher } from '../../../lib/formats/globs.js';
import type { ReleaseManifest, ManifestFile } from '../../../lib/formats/manifest.js';
import { nameKey, findPathFault } from '../../../lib/formats/path-policy.js';
import { AgentFailure } from '../exit.js';
import { hashOf, look } from '../system/files.js';
import { OWN_FOLDER, type Layout } from '../layout.js';
import type { DirectoryStep, FileStep, OldEntry, ApplyPlan } from './journal.js';
import type { Parents } from '../system/parents.js';
import type { FileSystem } from './probe.js';

export interface Carried {
  /** Settings files that stay, because their packaged bytes did not change. */
  untouched: Set<string>;
  /** Staged files with this machine's values, which differ from the package's bytes. */
  merged: Map<string, { sha256: string; mode: string }>;
}

export interface PlanInput {
  layout: Layout;
  parents: Parents;
  system: FileSystem;
  previous: ReleaseManifest | null;
  next: ReleaseManifest;
  own: string | null;
  /**
   * True when only `--current-version` names the installed version, so user changes cannot be
   * detected.
   */
  isForeign: boolean;
  signal: AbortSignal;
  carried: Carried;
  warn: (text: string) => void;
}

export const planUpdate = (input: PlanInput): Promise<ApplyPlan> => new Planner(input).plan();

const blocked = (path: string, why: string): AgentFailure =>
  new AgentFailure('rolledBack', `${path} ${why}; the update was not begun, nothing was changed`);

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

/** Lists parent paths: `a/b/c` → `a`, `a/b`. */
function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'));
}

const depth = (path: string): number => path.split('/').length;
const deepestFirst = (a: { path: string }, b: { path: string }): number =>
  depth(b.path) - depth(a.path) || (a.path < b.path ? 1 : -1);

class Planner {
  /** Maps paths that are the same on this file system to one key. */
  readonly #key: (path: string) => string;
  readonly #removals = new Map<string, FileStep>();
  readonly #emptied = new Map<string, DirectoryStep>();
  readonly #directories = new Set<string>();
  readonly #files: FileStep[] = [];
  readonly #needed: Set<string>;
  readonly #preserved: (path: string) => boolean;
  /** SHA-256 of the installed version's files, by path. */
  readonly #installed: ReadonlyMap<string, string>;
  readonly #names = new Map<string, string[]>();

  constructor(private readonly input: PlanInput) {
    const { system, next, previous } = input;
    const folds = system.folds || next.platform.startsWith('win-');
    this.#key = folds ? (path) => path.split('/').map(nameKey).join('/') : (path) => path;
    this.#needed = new Set(next.files.flatMap(({ path }) => parentsOf(path)).map(this.#key));
    // Patterns of both versions apply, so that a publisher who omits them once overwrites nothing.
    const matchers = [next, ...(previous === null ? [] : [previous])].map(isPreservedBy);
    this.#preserved = (path) => matchers.some((matches) => matches(path));
    this.#installed = new Map(previous?.files.map(({ path, sha256 }) => [this.#key(path), sha256]));
  }

  async plan(): Promise<ApplyPlan> {
    await this.#planRemovals();
    for (const file of this.input.next.files) {
      this.input.signal.throwIfAborted();
      await this.#planFile(file);
    }
    await this.#planEmptied();
    const { own } = this.input;
    const last = (step: FileStep): boolean => own !== null && this.#key(step.path) === this.#key(own);
    return {
      removals: [...this.#removals.values()].sort(deepestFirst),
      emptied: [...this.#emptied.values()].sort(deepestFirst),
      directories: [...this.#directories].sort((a, b) => depth(a) - depth(b)),
      files: [...this.#files.filter((step) => !last(step)), ...this.#files.filter(last)],
    };
  }

  /** Removes what only the previous manifest lists, unless either manifest preserves it. */
  async #planRemovals(): Promise<void> {
    const { previous, next, layout, parents } = this.input;
    if (previous === null) return;
    const stays = new Set(next.files.map(({ path }) => this.#key(path)));
    for (const { path } of previous.files) {
      this.input.signal.throwIfAborted();
      if (stays.has(this.#key(path)) || this.#preserved(path)) continue;
      if ((await parents.of(path)) !== 'directory') continue;
      const stats = await look(layout.at(path));
      if (stats === null || stats.isDirectory()) continue;
      this.#removals.set(this.#key(path), {
        path,
        ...(await this.#found(path)),
        old: await this.#old(path, stats),
        new: null,
      });
    }
  }

  async #planFile(file: ManifestFile): Promise<void> {
    const { layout, parents, carried } = this.input;
    const { path } = file;
    const { sha256, mode } = carried.merged.get(path) ?? file;
    const step: FileStep = { path, old: null, new: { sha256, mode } };
    if (this.#preserved(path) && (await this.#isOutOfReach(path))) return;
    if ((await parents.of(path)) !== 'directory') {
      await this.#makeParents(path);
      this.#files.push(step);
      return;
    }
    const stats = await look(layout.at(path));
    if (stats !== null && (this.#preserved(path) || carried.untouched.has(path))) return;
    if (stats === null) this.#files.push(step);
    else if (stats.isDirectory()) {
      await this.#planDirectoryInPlace(path);
      this.#files.push(step);
    } else {
      const old = await this.#old(path, stats);
      const found = await this.#found(path);
      const same = old.kind === 'file' && old.sha256 === sha256 && old.mode === mode && found.found === undefined;
      if (!same) this.#files.push({ ...step, ...found, ...(await this.#keptAs(path, old, sha256)), old });
    }
  }

  /**
   * Returns true for a preserved file below a mount, a link or another user's directory, which is
   * neither read nor written.
   */
  async #isOutOfReach(path: string): Promise<boolean> {
    const { layout, parents, warn } = this.input;
    try {
      await parents.of(path);
      return false;
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      const exists = await access(layout.at(path)).then(
        () => true,
        () => false,
      );
      if (!exists)
        warn(`${path} is preserved and was not created: ${error.message.replace('; nothing was changed', '')}`);
      return true;
    }
  }

  /** A file created or changed by the user is retained next to the new one. */
  async #keptAs(path: string, old: OldEntry, sha256: string): Promise<{ keptAs?: string }> {
    const { layout, next, own, isForeign } = this.input;
    if (isForeign || (own !== null && this.#key(path) === this.#key(own))) return {};
    if (old.kind !== 'file' || old.sha256 === sha256 || this.#installed.get(this.#key(path)) === old.sha256) return {};
    for (let n = 1; ; n++) {
      const name = `${path}.local${n === 1 ? '' : `.${n}`}`;
      if (findPathFault(name, next.platform) !== null) return {};
      if ((await look(layout.at(name))) === null && !this.#isShipped(name)) return { keptAs: name };
    }
  }

  #isShipped(path: string): boolean {
    return this.input.next.files.some((file) => this.#key(file.path) === this.#key(path));
  }

  async #makeParents(path: string): Promise<void> {
    const { layout, parents } = this.input;
    for (const parent of parentsOf(path)) {
      if ((await parents.of(`${parent}/x`)) === 'directory') continue;
      const key = this.#key(parent);
      const lies = (await parents.of(parent)) === 'directory' ? await look(layout.at(parent)) : null;
      if (lies !== null && !this.#removals.has(key))
        throw blocked(layout.at(parent), `is in the place of a directory, and no file of the installed version`);
      this.#directories.add(parent);
    }
  }

  async #planDirectoryInPlace(path: string): Promise<void> {
    const { layout, parents } = this.input;
    await parents.of(`${path}/x`);
    for (const entry of await readdir(layout.at(path), { withFileTypes: true })) {
      const inside = `${path}/${entry.name}`;
      if (entry.isDirectory()) await this.#planDirectoryInPlace(inside);
      else if (!this.#removals.has(this.#key(inside)))
        throw blocked(layout.at(inside), `is in the place of a new file, and no file of the installed version`);
    }
    await this.#empty(path);
  }

  async #planEmptied(): Promise<void> {
    const { layout } = this.input;
    const candidates = new Map<string, string>();
    for (const { path } of this.#removals.values())
      for (const parent of parentsOf(path)) candidates.set(this.#key(parent), parent);
    const goes = (path: string): boolean => this.#removals.has(this.#key(path)) || this.#emptied.has(this.#key(path));
    for (const path of [...candidates.values()].sort((a, b) => depth(b) - depth(a))) {
      if (this.#needed.has(this.#key(path)) || this.#emptied.has(this.#key(path)) || path === OWN_FOLDER) continue;
      const names = await readdir(layout.at(path));
      if (names.every((name) => goes(`${path}/${name}`))) await this.#empty(path);
    }
  }

  async #empty(path: string): Promise<void> {
    const stats = await look(this.input.layout.at(path));
    if (stats === null) return;
    this.#emptied.set(this.#key(path), { path, mode: octal(stats.mode), uid: stats.uid, gid: stats.gid });
  }

  async #old(path: string, stats: Stats): Promise<OldEntry> {
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
    const sha256 = kind === 'file' ? await hashOf(this.input.layout.at(path), this.input.signal) : null;
    return { kind, sha256, mode: octal(stats.mode), uid: stats.uid, gid: stats.gid };
  }

  /**
   * Returns the spelling on disk when it differs: a file renamed over it would retain the old one.
   */
  async #found(path: string): Promise<{ found?: string }> {
    if (!this.input.system.folds) return {};
    const folder = dirname(path);
    const names = this.#names.get(folder) ?? (await readdir(this.input.layout.at(folder)));
    this.#names.set(folder, names);
    const wanted = basename(path);
    if (names.includes(wanted)) return {};
    const name = names.find((other) => nameKey(other) === nameKey(wanted));
    return name === undefined ? {} : { found: folder === '.' ? name : `${folder}/${name}` };
  }
}

export function isPreservedBy({ files, preserve_patterns }: ReleaseManifest): (path: string) => boolean {
  const marked = new Set(files.filter(({ preserve }) => preserve).map(({ path }) => path));
  const matches = createGlobMatcher(preserve_patterns);
  return (path) => marked.has(path) || matches(path);
}
