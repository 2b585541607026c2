/** Setup that all files of a run share, for mocha's `--require` (.mocharc.cjs). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import './compiled-views.js';
import { dropRunDatabases } from './mongo/databases.js';

/** Creates the folder of the run before the test processes start. */
export async function mochaGlobalSetup(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-tests-'));
  process.env['SVC_TEST_SHARED'] = folder;
  process.env['SVC_TEST_RUN'] = basename(folder).slice('aos-tests-'.length);
}

export async function mochaGlobalTeardown(): Promise<void> {
  await dropRunDatabases();
  await rm(process.env['SVC_TEST_SHARED'] ?? '', { recursive: true, force: true });
}
