/**
 * `npm run build && node dist/test/pictures/serve.js [folder]`: tells the story into a folder (a
 * temporary one, removed at the end) unless it has been told there before, and serves it until
 * Ctrl-C. Prints the address; the account is that of the tests.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_ACCOUNT, TestService } from '../support/service.js';
import { UNLIMITED } from './folder-service.js';
import { tell } from './story.js';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const given = process.argv[2];
const folder = given ?? (await mkdtemp(join(tmpdir(), 'aos-story-')));
if (!existsSync(join(folder, 'aos.db'))) await tell(folder, say);
const service = await TestService.createStarted(UNLIMITED, folder);
say(`${service.url}  ${ADMIN_ACCOUNT.username}  ${ADMIN_ACCOUNT.password}`);
await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
await service.stop();
if (given === undefined) await rm(folder, { recursive: true, force: true });
