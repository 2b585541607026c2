/** Builds the service's package with `npm pack`, once for all files of a run. */
import { mkdir, readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../architecture/tree.js';
import { until } from '../harness.js';
import { done } from './programs.js';

const LIMIT_MS = 280_000;
/** Shared by the run's lanes; other runners pack once per process. */
const FOLDER = join(
  process.env['SVC_TEST_SHARED'] ?? tmpdir(),
  `packed${process.env['SVC_TEST_SHARED'] ? '' : `-${process.pid}`}`,
);
const MADE = join(FOLDER, 'made');

/** @returns the path of the shared tarball */
export async function packedService(): Promise<string> {
  if (await isFirst()) {
    const to = join(FOLDER, 'new');
    await mkdir(to);
    const words = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', to];
    await done('npm', words, { cwd: projectRoot(), limitMs: LIMIT_MS });
    await rename(to, MADE);
  }
  const names = (): Promise<string[]> => readdir(MADE).catch(() => []);
  await until('the package', async () => (await names()).length > 0, LIMIT_MS);
  return join(MADE, (await names())[0] ?? '');
}

async function isFirst(): Promise<boolean> {
  try {
    await mkdir(FOLDER);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
