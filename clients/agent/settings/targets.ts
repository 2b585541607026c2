/** A malformed file ends the setup before any write. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chown, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ParentValidator } from '../system/parent-validator.js';
import { setMode } from '../apply/apply.js';
import { AgentFailure } from '../exit.js';
import { statPath, ON_WINDOWS, syncDirectory, retryWhileHeld } from '../system/files.js';
import { restrictToOwner } from '../system/windows.js';
import { resolveRoot } from '../update/installation.js';
import type { Target } from './description.js';
import { checkBaseDirectory, createBaseDirectory } from './base-directory.js';
import { FormatError, type SettingValue } from './formats/format.js';
import { SETTINGS_FORMATS, type FormatName } from './formats/index.js';
import { resolveBase, resolveTargetPath, type LocationContext } from './locations.js';
import { decodeText } from './text-file.js';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const SECRET_MODE = 0o600;
const DEFAULT_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

interface TargetFile {
  base: string;
  path: string;
  format: FormatName;
  mark: string;
  before: string;
  text: string;
  kept: { mode: number; uid: number; gid: number } | null;
  secret: boolean;
  own: boolean;
}

const isRoot = (): boolean => !ON_WINDOWS && process.geteuid?.() === 0;

export class TargetFiles {
  readonly #files = new Map<string, TargetFile>();

  constructor(private readonly around: LocationContext) {}

  /** @throws AgentFailure for a file that cannot be edited */
  async readValue(target: Target): Promise<SettingValue | null> {
    const file = await this.#open(target);
    return this.#withFormatErrors(file, () => SETTINGS_FORMATS[target.format].read(file.text, target.key));
  }

  async resolvePaths(targets: readonly Target[]): Promise<string[]> {
    const found = new Set<string>();
    for (const target of targets) {
      const { base, path, own } = await this.#open(target);
      if (own) await checkBaseDirectory(base);
      found.add(join(base, ...path.split('/')));
    }
    return [...found];
  }

  async setValue(target: Target, value: SettingValue, secret: boolean): Promise<void> {
    const file = await this.#open(target);
    file.text = this.#withFormatErrors(file, () => SETTINGS_FORMATS[target.format].write(file.text, target.key, value));
    file.secret ||= secret;
  }

  async save(): Promise<string[]> {
    const changed = [...this.#files.values()].filter((file) => file.text !== file.before);
    for (const file of changed) {
      if (file.own) await createBaseDirectory(file.base, this.around.project);
      await writeFileAtomically(file);
    }
    return changed.map(({ base, path }) => join(base, ...path.split('/')));
  }

  async #open(target: Target): Promise<TargetFile> {
    const base = await resolveBase(target.location, this.around);
    const path = resolveTargetPath(target, this.around.env);
    const key = `${base}\0${path}`;
    const known = this.#files.get(key);
    if (known !== undefined && known.format !== target.format)
      throw new AgentFailure('error', `setup.json: ${path} is declared as both ${known.format} and ${target.format}`);
    const own = isRoot() && target.location !== 'install';
    const file = known ?? { ...(await loadFile(base, path, target.format)), own };
    this.#files.set(key, file);
    return file;
  }

  #withFormatErrors<T>({ base, path }: TargetFile, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new AgentFailure('error', `${join(base, path)} ${error.message}; it was not changed`, { cause: error });
    }
  }
}

async function loadFile(base: string, path: string, format: FormatName): Promise<Omit<TargetFile, 'own'>> {
  const empty = { path, format, mark: '', before: '', text: '', kept: null, secret: false };
  if ((await statPath(base)) === null) return { ...empty, base };
  const root = await resolveRoot(base);
  const at = join(root, ...path.split('/'));
  const parent = await (await ParentValidator.of(root)).of(path);
  if (parent === 'no directory') throw createTargetFailure(at, 'is below a path that is not a directory');
  const stats = parent === 'missing' ? null : await statPath(at);
  if (stats === null) return { ...empty, base: root };
  if (stats.isSymbolicLink()) throw createTargetFailure(at, 'is a link');
  if (!stats.isFile()) throw createTargetFailure(at, 'is not a file');
  if (stats.size > MAX_FILE_BYTES)
    throw new AgentFailure('error', `${at} is longer than ${MAX_FILE_BYTES} bytes; it was not changed`);
  const content = decodeText(await readContent(at));
  if (content === null) throw new AgentFailure('error', `${at} is not UTF-8; it was not changed`);
  const { mode, uid, gid } = stats;
  return {
    ...empty,
    base: root,
    mark: content.mark,
    before: content.text,
    text: content.text,
    kept: { mode: mode & 0o7777, uid, gid },
  };
}

const createTargetFailure = (path: string, why: string): AgentFailure =>
  new AgentFailure('spaceOrPermission', `${path} ${why}; it was not changed`);

async function readContent(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function writeFileAtomically({ base, path, mark, text, kept: previousStats, secret }: TargetFile): Promise<void> {
  await mkdir(base, { recursive: true, mode: DIRECTORY_MODE });
  const root = await resolveRoot(base);
  await makeParents(root, path);
  const at = join(root, ...path.split('/'));
  const temporary = join(dirname(at), `.${basename(at).slice(0, 100)}.${randomUUID()}.new`);
  const file = await open(temporary, 'wx', SECRET_MODE);
  try {
    try {
      await file.writeFile(mark + text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (previousStats !== null) await copyOwner(temporary, at, previousStats);
    else if (secret && ON_WINDOWS) await restrictToOwner(temporary);
    await setMode(temporary, previousStats?.mode ?? (secret ? SECRET_MODE : DEFAULT_MODE));
    await retryWhileHeld(ON_WINDOWS, () => rename(temporary, at));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(at));
}

/** Each parent is validated before anything is created in it. */
async function makeParents(root: string, path: string): Promise<void> {
  const names = path.split('/').slice(0, -1);
  for (let n = 1; n <= names.length; n++) {
    const folder = names.slice(0, n).join('/');
    if ((await (await ParentValidator.of(root)).of(`${folder}/x`)) === 'missing')
      await mkdir(join(root, ...names.slice(0, n)), { mode: DIRECTORY_MODE });
  }
  await (await ParentValidator.of(root)).of(path);
}

async function copyOwner(temporary: string, at: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const now = await statPath(temporary);
  if (ON_WINDOWS || now === null || (now.uid === uid && now.gid === gid)) return;
  await chown(temporary, uid, gid).catch((error: unknown) => {
    throw new AgentFailure(
      'spaceOrPermission',
      `${at} belongs to others (${uid}:${gid}), and this ownership cannot be preserved`,
      {
        cause: error,
      },
    );
  });
}
