/**
 * Planning only reads, so obstacles are detected before the first rename (contract 90, update:
 * preserved files, orphans; "Journal": the order of removals).
 */
import type { Stats } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path/posix';
import { createGlobMatcher } from '../../../lib/formats/globs.js';
import type { ReleaseManifest, ManifestFile } from '../../../lib/formats/manifest.js';
import { toNameKey, findPathFault } from '../../../lib/formats/path-policy.js';
import { AgentFailure } from '../exit.js';
import { hashFile, statPath } from '../system/files.js';
import { OWN_FOLDER, type InstallationLayout } from '../layout.js';
import type { DirectoryStep, FileStep, OldEntry, ApplyPlan } from './journal.js';
import type { ParentValidator } from '../system/parent-validator.js';
import type { FileSystemFeatures } from './probe.js';

export interface CarriedSettings {
  /** Settings files that stay, because their packaged bytes did not change. */
  untouched: Set<string>;
  /** Staged files with this machine's values, which differ from the package's bytes. */
  merged: Map<string, { sha256: string; mode: string }>;
}

export interface PlanInput {
  layout: InstallationLayout;
  parents: ParentValidator;
  system: FileSystemFeatures;
  previous: ReleaseManifest | null;
  next: ReleaseManifest;
  own: string | null;
  /** User changes cannot be detected. */
  isForeign: boolean;
  signal: AbortSignal;
  carried: CarriedSettings;
  warn: (text: string) => void;
}

export const planUpdate = (input: PlanInput): Promise<ApplyPlan> => new UpdatePlanner(input).plan();

const createBlockedFailure = (path: string, why: string): AgentFailure =>
  new AgentFailure('rolledBack', `${path} ${why}; the update was not started, nothing was changed`);

const formatMode = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

function listParents(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'));
}

const getDepth = (path: string): number => path.split('/').length;
const compareByDepth = (a: { path: string }, b: { path: string }): number =>
  getDepth(b.path) - getDepth(a.path) || (a.path < b.path ? 1 : -1);

class UpdatePlanner {
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
    this.#key = folds ? (path) => path.split('/').map(toNameKey).join('/') : (path) => path;
    this.#needed = new Set(next.files.flatMap(({ path }) => listParents(path)).map(this.#key));
    // Patterns of both versions apply, so that a publisher who omits them once overwrites nothing.
    const matchers = [next, ...(previous === null ? [] : [previous])].map(createPreservedMatcher);
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
      removals: [...this.#removals.values()].sort(compareByDepth),
      emptied: [...this.#emptied.values()].sort(compareByDepth),
      directories: [...this.#directories].sort((a, b) => getDepth(a) - getDepth(b)),
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
      const stats = await statPath(layout.resolvePath(path));
      if (stats === null || stats.isDirectory()) continue;
      this.#removals.set(this.#key(path), {
        path,
        ...(await this.#findSpelling(path)),
        old: await this.#readOldEntry(path, stats),
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
    const stats = await statPath(layout.resolvePath(path));
    if (stats !== null && (this.#preserved(path) || carried.untouched.has(path))) return;
    if (stats === null) this.#files.push(step);
    else if (stats.isDirectory()) {
      await this.#planDirectoryInPlace(path);
      this.#files.push(step);
    } else {
      const old = await this.#readOldEntry(path, stats);
      const found = await this.#findSpelling(path);
      const same = old.kind === 'file' && old.sha256 === sha256 && old.mode === mode && found.found === undefined;
      if (!same) this.#files.push({ ...step, ...found, ...(await this.#resolveKeptName(path, old, sha256)), old });
    }
  }

  /** Below a mount, a link or another user's directory. */
  async #isOutOfReach(path: string): Promise<boolean> {
    const { layout, parents, warn } = this.input;
    try {
      await parents.of(path);
      return false;
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      const exists = await access(layout.resolvePath(path)).then(
        () => true,
        () => false,
      );
      if (!exists)
        warn(`${path} is preserved and was not created: ${error.message.replace('; nothing was changed', '')}`);
      return true;
    }
  }

  /** A file created or changed by the user is retained next to the new one. */
  async #resolveKeptName(path: string, old: OldEntry, sha256: string): Promise<{ keptAs?: string }> {
    const { layout, next, own, isForeign } = this.input;
    if (isForeign || (own !== null && this.#key(path) === this.#key(own))) return {};
    if (old.kind !== 'file' || old.sha256 === sha256 || this.#installed.get(this.#key(path)) === old.sha256) return {};
    for (let n = 1; ; n++) {
      const name = `${path}.local${n === 1 ? '' : `.${n}`}`;
      if (findPathFault(name, next.platform) !== null) return {};
      if ((await statPath(layout.resolvePath(name))) === null && !this.#isShipped(name)) return { keptAs: name };
    }
  }

  #isShipped(path: string): boolean {
    return this.input.next.files.some((file) => this.#key(file.path) === this.#key(path));
  }

  async #makeParents(path: string): Promise<void> {
    const { layout, parents } = this.input;
    for (const parent of listParents(path)) {
      if ((await parents.of(`${parent}/x`)) === 'directory') continue;
      const key = this.#key(parent);
      const lies = (await parents.of(parent)) === 'directory' ? await statPath(layout.resolvePath(parent)) : null;
      if (lies !== null && !this.#removals.has(key))
        throw createBlockedFailure(
          layout.resolvePath(parent),
          `occupies the path of a directory, and is not a file of the installed version`,
        );
      this.#directories.add(parent);
    }
  }

  async #planDirectoryInPlace(path: string): Promise<void> {
    const { layout, parents } = this.input;
    await parents.of(`${path}/x`);
    for (const entry of await readdir(layout.resolvePath(path), { withFileTypes: true })) {
      const inside = `${path}/${entry.name}`;
      if (entry.isDirectory()) await this.#planDirectoryInPlace(inside);
      else if (!this.#removals.has(this.#key(inside)))
        throw createBlockedFailure(
          layout.resolvePath(inside),
          `occupies the path of a new file, and is not a file of the installed version`,
        );
    }
    await this.#planIfEmptied(path);
  }

  async #planEmptied(): Promise<void> {
    const { layout } = this.input;
    const candidates = new Map<string, string>();
    for (const { path } of this.#removals.values())
      for (const parent of listParents(path)) candidates.set(this.#key(parent), parent);
    const goes = (path: string): boolean => this.#removals.has(this.#key(path)) || this.#emptied.has(this.#key(path));
    for (const path of [...candidates.values()].sort((a, b) => getDepth(b) - getDepth(a))) {
      if (this.#needed.has(this.#key(path)) || this.#emptied.has(this.#key(path)) || path === OWN_FOLDER) continue;
      const names = await readdir(layout.resolvePath(path));
      if (names.every((name) => goes(`${path}/${name}`))) await this.#planIfEmptied(path);
    }
  }

  async #planIfEmptied(path: string): Promise<void> {
    const stats = await statPath(this.input.layout.resolvePath(path));
    if (stats === null) return;
    this.#emptied.set(this.#key(path), { path, mode: formatMode(stats.mode), uid: stats.uid, gid: stats.gid });
  }

  async #readOldEntry(path: string, stats: Stats): Promise<OldEntry> {
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
    const sha256 = kind === 'file' ? await hashFile(this.input.layout.resolvePath(path), this.input.signal) : null;
    return { kind, sha256, mode: formatMode(stats.mode), uid: stats.uid, gid: stats.gid };
  }

  /** A file renamed over another spelling would retain it. */
  async #findSpelling(path: string): Promise<{ found?: string }> {
    if (!this.input.system.folds) return {};
    const folder = dirname(path);
    const names = this.#names.get(folder) ?? (await readdir(this.input.layout.resolvePath(folder)));
    this.#names.set(folder, names);
    const wanted = basename(path);
    if (names.includes(wanted)) return {};
    const name = names.find((other) => toNameKey(other) === toNameKey(wanted));
    return name === undefined ? {} : { found: folder === '.' ? name : `${folder}/${name}` };
  }
}

export function createPreservedMatcher({ files, preserve_patterns }: ReleaseManifest): (path: string) => boolean {
  const marked = new Set(files.filter(({ preserve }) => preserve).map(({ path }) => path));
  const matches = createGlobMatcher(preserve_patterns);
  return (path) => marked.has(path) || matches(path);
}
