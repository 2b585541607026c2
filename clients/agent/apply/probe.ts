/** What the file system of an installation can do, tried out in `.update-agent`. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { look, ON_WINDOWS } from '../system/files.js';
import type { Layout } from '../layout.js';

export interface FileSystem {
  /** Two names that differ only by letter case are one. */
  folds: boolean;
  /** A file can have two names. Windows is treated as if it could not (contract 90, journal). */
  links: boolean;
}

export async function probe(layout: Layout): Promise<FileSystem> {
  const folder = join(layout.own, `probe-${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const file = join(folder, 'Aa');
    await writeFile(file, '');
    const links =
      !ON_WINDOWS &&
      (await link(file, join(folder, 'link')).then(
        () => true,
        () => false,
      ));
    return { folds: (await look(join(folder, 'aA'))) !== null, links };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
