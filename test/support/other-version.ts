/**
 * The program as another version of itself, for tests of upgrades: its bundle (scripts/bundle.mjs), edited. A copy of all
 * files and their starts would cost twice as much.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../config/load.js';

export interface OtherVersion {
  cli: string;
  remove(): Promise<void>;
}

/** One place of the program, and what stands there in the other version. */
export interface Edit {
  /** A regular expression for text without comments and needless blanks; a blank is where a line may end. */
  at: string;
  /** As `String.replace` takes it. */
  instead: string;
}

/** What is loaded beside the bundle, and finds the program's other files from where it lies: no links. */
const BESIDE = ['cli', 'config', 'kernel', 'lib'];

async function bundleText(dist: string): Promise<string> {
  const changed = async (name: string): Promise<number> =>
    (await stat(join(dist, name)).catch(() => null))?.mtimeMs ?? 0;
  if ((await changed('bundle/aos.js')) < (await changed('.tsbuildinfo')))
    await promisify(execFile)(process.execPath, [join(dist, '..', 'scripts', 'bundle.mjs')]);
  // Long texts go over several lines.
  return (await readFile(join(dist, 'bundle', 'aos.js'), 'utf8')).replaceAll('\\\n', '');
}

function edited(text: string, { at, instead }: Edit): string {
  const places = new RegExp(at.replaceAll(' ', String.raw`\s*`), 'g');
  const found = text.match(places)?.length ?? 0;
  if (found !== 1) throw new Error(`${found} places to edit, not one: ${at}`);
  return text.replace(places, instead);
}

async function linkAll(from: string, to: string, but: readonly string[]): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) if (!but.includes(name)) await symlink(join(from, name), join(to, name));
}

export async function otherVersion(version: string, edits: readonly Edit[]): Promise<OtherVersion> {
  const root = packageRoot();
  const dist = join(root, 'dist');
  const text = edits.reduce(edited, await bundleText(dist));
  const folder = await mkdtemp(join(tmpdir(), 'aos-version-'));
  await linkAll(root, folder, ['dist', 'test', '.git', 'package.json']);
  const about = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...about, version }));
  await linkAll(dist, join(folder, 'dist'), ['bundle', 'test', '.tsbuildinfo', ...BESIDE]);
  for (const name of BESIDE)
    await cp(join(dist, name), join(folder, 'dist', name), {
      recursive: true,
      filter: (source) => !/\.(map|d\.ts)$/.test(basename(source)),
    });
  // What V8 compiled of the bundle is not of this one.
  await linkAll(join(dist, 'bundle'), join(folder, 'dist', 'bundle'), ['aos.js', 'aos.js.cache']);
  await writeFile(join(folder, 'dist', 'bundle', 'aos.js'), text);
  return { cli: join(folder, 'dist/cli/main.js'), remove: () => rm(folder, { recursive: true, force: true }) };
}
