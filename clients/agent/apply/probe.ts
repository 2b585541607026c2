import { randomUUID } from 'node:crypto';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { statPath, ON_WINDOWS } from '../system/files.js';
import type { InstallationLayout } from '../layout.js';

export interface FileSystemFeatures {
  folds: boolean;
  /** Windows is treated as if they were not (contract 90, journal). */
  links: boolean;
}

export async function probeFileSystem(layout: InstallationLayout): Promise<FileSystemFeatures> {
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
    return { folds: (await statPath(join(folder, 'aA'))) !== null, links };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
