/**
 * Files with settings: read once, changed in memory and replaced by a rename, retaining mode, owner
 * and byte order mark. A malformed file ends the setup before any write.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chown, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Parents } from '../system/parents.js';
import { setMode } from '../apply/apply.js';
import { AgentFailure } from '../exit.js';
import { look, ON_WINDOWS, syncDirectory, whileHeld } from '../system/files.js';
import { keepToOwner } from '../system/windows.js';
import { rootOf } from '../update/installation.js';
import type { Target } from './description.js';
import { checkOwnBase, makeOwnBase } from './own-base.js';
import { FormatError, type SettingValue } from './formats/format.js';
import { FORMATS, type FormatName } from './formats/index.js';
import { baseOf, pathOf, type Surroundings } from './places.js';
import { decoded } from './text-file.js';

const MOST_BYTES = 4 * 1024 * 1024;
const SECRET_MODE = 0o600;
const OPEN_MODE = 0o644;
const DIRECTORY_MODE = 0o755;

interface File {
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

export class Targets {
  readonly #files = new Map<string, File>();

  constructor(private readonly around: Surroundings) {}

  /**
   * Returns the value at a target.
   * @throws AgentFailure for a file that cannot be edited
   */
  async read(target: Target): Promise<SettingValue | null> {
    const file = await this.#open(target);
    return this.#guarded(file, () => FORMATS[target.format].read(file.text, target.key));
  }

  async paths(targets: readonly Target[]): Promise<string[]> {
    const found = new Set<string>();
    for (const target of targets) {
      const { base, path, own } = await this.#open(target);
      if (own) await checkOwnBase(base);
      found.add(join(base, ...path.split('/')));
    }
    return [...found];
  }

  async set(target: Target, value: SettingValue, secret: boolean): Promise<void> {
    const file = await this.#open(target);
    file.text = this.#guarded(file, () => FORMATS[target.format].write(file.text, target.key, value));
    file.secret ||= secret;
  }

  async save(): Promise<string[]> {
    const changed = [...this.#files.values()].filter((file) => file.text !== file.before);
    for (const file of changed) {
      if (file.own) await makeOwnBase(file.base, this.around.project);
      await write(file);
    }
    return changed.map(({ base, path }) => join(base, ...path.split('/')));
  }

  async #open(target: Target): Promise<File> {
    const base = await baseOf(target.location, this.around);
    const path = pathOf(target, this.around.env);
    const key = `${base}\0${path}`;
    const known = this.#files.get(key);
    if (known !== undefined && known.format !== target.format)
      throw new AgentFailure('error', `setup.json: ${path} is said to be ${known.format} and ${target.format}`);
    const own = isRoot() && target.location !== 'install';
    const file = known ?? { ...(await load(base, path, target.format)), own };
    this.#files.set(key, file);
    return file;
  }

  #guarded<T>({ base, path }: File, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new AgentFailure('error', `${join(base, path)} ${error.message}; it was left alone`, { cause: error });
    }
  }
}

async function load(base: string, path: string, format: FormatName): Promise<Omit<File, 'own'>> {
  const empty = { path, format, mark: '', before: '', text: '', kept: null, secret: false };
  if ((await look(base)) === null) return { ...empty, base };
  const root = await rootOf(base);
  const at = join(root, ...path.split('/'));
  const parent = await (await Parents.of(root)).of(path);
  if (parent === 'no directory') throw refused(at, 'lies below something that is no directory');
  const stats = parent === 'missing' ? null : await look(at);
  if (stats === null) return { ...empty, base: root };
  if (stats.isSymbolicLink()) throw refused(at, 'is a link');
  if (!stats.isFile()) throw refused(at, 'is no file');
  if (stats.size > MOST_BYTES)
    throw new AgentFailure('error', `${at} is longer than ${MOST_BYTES} bytes; it was left alone`);
  const content = decoded(await contentOf(at));
  if (content === null) throw new AgentFailure('error', `${at} is not UTF-8; it was left alone`);
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

const refused = (path: string, why: string): AgentFailure =>
  new AgentFailure('spaceOrPermission', `${path} ${why}; it was left alone`);

async function contentOf(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function write({ base, path, mark, text, kept, secret }: File): Promise<void> {
  await mkdir(base, { recursive: true, mode: DIRECTORY_MODE });
  const root = await rootOf(base);
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
    if (kept !== null) await keepOwner(temporary, at, kept);
    else if (secret && ON_WINDOWS) await keepToOwner(temporary);
    await setMode(temporary, kept?.mode ?? (secret ? SECRET_MODE : OPEN_MODE));
    await whileHeld(ON_WINDOWS, () => rename(temporary, at));
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
    if ((await (await Parents.of(root)).of(`${folder}/x`)) === 'missing')
      await mkdir(join(root, ...names.slice(0, n)), { mode: DIRECTORY_MODE });
  }
  await (await Parents.of(root)).of(path);
}

async function keepOwner(temporary: string, at: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const now = await look(temporary);
  if (ON_WINDOWS || now === null || (now.uid === uid && now.gid === gid)) return;
  await chown(temporary, uid, gid).catch((error: unknown) => {
    throw new AgentFailure('spaceOrPermission', `${at} belongs to others (${uid}:${gid}), which cannot be kept`, {
      cause: error,
    });
  });
}
