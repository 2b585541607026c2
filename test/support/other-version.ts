/** A copy of the compiled program with edited files, for upgrade tests. */
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { findPackageRoot } from '../../config/load.js';

export interface OtherVersion {
  cli: string;
  remove(): Promise<void>;
}

export interface FileEdit {
  file: string;
  find: RegExp;
  replaceWith: string;
}

async function applyEdit(dist: string, { file, find, replaceWith }: FileEdit): Promise<void> {
  const path = join(dist, file);
  const text = await readFile(path, 'utf8');
  const matches = text.match(new RegExp(find, 'g'))?.length ?? 0;
  if (matches !== 1) throw new Error(`${file} has ${matches} parts that match ${find}, expected one`);
  await writeFile(path, text.replace(find, replaceWith));
}

export async function createOtherVersion(version: string, edits: readonly FileEdit[]): Promise<OtherVersion> {
  const root = findPackageRoot();
  const folder = await mkdtemp(join(tmpdir(), 'aos-version-'));
  const dist = join(folder, 'dist');
  await cp(join(root, 'dist'), dist, {
    recursive: true,
    filter: (source) => relative(join(root, 'dist'), source).split(sep)[0] !== 'test' && !/\.(map|d\.ts)$/.test(source),
  });
  for (const edit of edits) await applyEdit(dist, edit);
  for (const name of await readdir(root)) {
    if (!['dist', 'test', '.git', 'package.json'].includes(name)) await symlink(join(root, name), join(folder, name));
  }
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  return { cli: join(dist, 'main.js'), remove: () => rm(folder, { recursive: true, force: true }) };
}
