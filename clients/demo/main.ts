import { demo } from './demo.js';
import { loop } from './loop/loop.js';
import { Stopped } from './service.js';

const STORIES: Readonly<Record<string, () => Promise<unknown>>> = { '': demo, loop };

const [name = ''] = process.argv.slice(2);
const story = STORIES[name];
try {
  if (story === undefined) throw new Stopped(`There is no demo ${name}: npm run demo, or npm run demo -- loop`);
  await story();
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
