/** The built program as another version of itself, for tests of upgrades: a folder with the same files, but those that are edited. */
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { packageRoot } from '../../config/load.js';

export interface OtherVersion {
  cli: string;
  remove(): Promise<void>;
}

/** @param edits of compiled files, by their path below `dist` */
export async function otherVersion(
  version: string,
  edits: Readonly<Record<string, (text: string) => string>>,
): Promise<OtherVersion> {
  const root = packageRoot();
  const folder = await mkdtemp(join(tmpdir(), 'aos-version-'));
  for (const name of await readdir(root)) {
    if (!['dist', 'test', '.git', 'package.json'].includes(name)) await symlink(join(root, name), join(folder, name));
  }
  const about = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...about, version }));
  // Real files and no links: a module that is imported by a link would be the original's.
  const dist = join(root, 'dist');
  await cp(dist, join(folder, 'dist'), {
    recursive: true,
    // Without the bundle, which has other files than the edited ones.
    filter: (source) =>
      ![join(dist, 'test'), join(dist, 'bundle')].includes(source) && !/\.(map|d\.ts)$/.test(basename(source)),
  });
  for (const [path, edit] of Object.entries(edits)) {
    const file = join(folder, 'dist', path);
    const text = await readFile(file, 'utf8');
    const edited = edit(text);
    if (edited === text) throw new Error(`nothing was edited in ${path}`);
    await writeFile(file, edited);
  }
  return { cli: join(folder, 'dist/cli/main.js'), remove: () => rm(folder, { recursive: true, force: true }) };
}
