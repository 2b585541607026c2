/** Builds the service's package with `npm pack`, once for all files of a run. */
import { mkdir, readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../architecture/tree.js';
import { waitUntil } from '../harness.js';
import { runAndGetOutput } from './programs.js';

const PACK_TIMEOUT_MS = 280_000;
/** Shared by the run's lanes; other runners pack once per process. */
const SHARED_FOLDER = join(
  process.env['SVC_TEST_SHARED'] ?? tmpdir(),
  `packed${process.env['SVC_TEST_SHARED'] ? '' : `-${process.pid}`}`,
);
const DONE_MARKER = join(SHARED_FOLDER, 'made');

/** @returns the path of the shared tarball */
export async function packService(): Promise<string> {
  if (await claimPacking()) {
    const to = join(SHARED_FOLDER, 'new');
    await mkdir(to);
    const words = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', to];
    await runAndGetOutput('npm', words, { cwd: projectRoot(), limitMs: PACK_TIMEOUT_MS });
    await rename(to, DONE_MARKER);
  }
  const names = (): Promise<string[]> => readdir(DONE_MARKER).catch(() => []);
  await waitUntil('the package', async () => (await names()).length > 0, PACK_TIMEOUT_MS);
  return join(DONE_MARKER, (await names())[0] ?? '');
}

async function claimPacking(): Promise<boolean> {
  try {
    await mkdir(SHARED_FOLDER);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
